// Conversion from MPI datatype to UCD type.
#pragma once

#include "types/c_mpi.h"
#include "types/owned_type.h"

#include <ucd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucd_mpi {

// A predefined MPI type in the datatype, and the UCD type that represents it.
struct PredefinedPart {
    MPI_Datatype datatype;
    ucd_type_t element;
};

struct Converted {
    OwnedType type;
    std::vector<PredefinedPart> leaves; // without repetitions
    std::size_t longest_list = 0;       // length of the longest argument list of a constructor
    // The sum of counts along nested constructors, as the type was built. A walk from the start of
    // an item to its middle takes at most this many steps.
    std::uint64_t steps = 0;
};

// Returns a status of ucd.h. Does not recurse, since types may be nested to any depth.
int convert(MPI_Datatype datatype, Converted &converted);

} // namespace ucd_mpi
