// The structure of a type's loops.
#pragma once

#include "types/convert.h"

#include <cstdint>

namespace ucd_mpi {

// Describes a type's loops in UCD's normalised order.
struct Loops {
    bool regular = false;           // no list
    bool transposed = false;        // an outer loop has shorter strides than an inner one
    std::uint64_t inner_stride = 0; // bytes; if regular
};

Loops loops_of(const Converted &converted);

} // namespace ucd_mpi
