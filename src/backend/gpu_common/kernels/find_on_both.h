// Positions of a nest on two sides.
#pragma once

#include "kernels/divide.h"
#include "params/copy_level.h"

namespace ucd::UCD_GPU {

template <unsigned count>
UCD_GPU_FUNCTION void find_on_both(const CopyLevel *level, uint32_t levels,
                                   uint32_t (&position)[count], uintptr_t (&from)[count],
                                   uintptr_t (&to)[count]) {
#pragma unroll 1
    for (uint32_t k = 0; k < levels; ++k) {
        const Divisor each = level[k].each;
        const auto from_step = static_cast<uint64_t>(level[k].from);
        const auto to_step = static_cast<uint64_t>(level[k].to);
#pragma unroll
        for (unsigned i = 0; i < count; ++i) {
            const uint32_t child = quotient(position[i], each);
            position[i] -= child * each.value;
            from[i] += child * from_step;
            to[i] += child * to_step;
        }
    }
}

} // namespace ucd::UCD_GPU
