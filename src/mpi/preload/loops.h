// What a type's loops look like.
#pragma once

#include "types/convert.h"

#include <cstdint>

namespace ucd_mpi {

// Of a type's loops, as UCD has put them in order.
struct Loops {
    bool regular = false;           // no list
    bool transposed = false;        // an outer loop has shorter strides than an inner one
    std::uint64_t inner_stride = 0; // bytes; if regular
};

Loops loops_of(const Converted &converted);

} // namespace ucd_mpi
