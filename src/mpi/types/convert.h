// From MPI datatype to UCD type.
#pragma once

#include "types/c_mpi.h"

#include <ucd.h>

#include <cstddef>
#include <cstdint>
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
    std::size_t longest_list = 0;     // most numbers that one constructor inside was given
    // Of loops and lists as the type was built: the sum of counts along nested constructors. A walk
    // from the start of an item to its middle takes so many steps at most.
    std::uint64_t steps = 0;
};

// A status of ucd.h. Never recurses, whatever the depth.
int convert(MPI_Datatype datatype, Converted &converted);

} // namespace ucd_mpi
