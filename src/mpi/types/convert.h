// From MPI datatype to UCD type.
#pragma once

#include "types/c_mpi.h"

#include <ucd.h>

#include <vector>

namespace ucd_mpi {

// A predefined MPI type inside, and what stands for it in the UCD type.
struct Leaf {
    MPI_Datatype datatype;
    ucd_type_t element;
};

struct Converted {
    ucd_type_t type = UCD_TYPE__NULL; // the caller's to free
    std::vector<Leaf> leaves;         // each once
};

// A status of ucd.h. Never recurses, whatever the depth.
int convert(MPI_Datatype datatype, Converted &converted);

} // namespace ucd_mpi
