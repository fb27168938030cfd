// How packed data is described to MPI.
#pragma once

#include "types/convert.h"

namespace ucd_mpi {

// Each item of the user's type is `per_item` elements of `datatype`, which has no gaps. The basic
// elements are the same, so type signatures match.
struct PackedSignature {
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Count per_item = 0;
    bool owned = false;        // who made the signature frees the datatype
    bool same_elements = true; // false: bytes, because the elements cannot be described

    bool is_predefined() const { return per_item == 1 && !owned; }
};

// For a converted type of `bytes` bytes.
PackedSignature signature_of(const Converted &converted, std::uintptr_t bytes);

} // namespace ucd_mpi
