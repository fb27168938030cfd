// The body of the interpreter, the kernel that moves any layout.
#pragma once

#include "kernels/interpreter.h"

namespace ucd::UCD_GPU {

template <Direction direction>
UCD_GPU_FUNCTION void run_interpreter(const InterpreterParams &p) {
    UCD_GPU_FOR_EACH_THREAD(thread) {
        const uint64_t step = uint64_t{UCD_GPU_BLOCKS} * threads_per_block;
        for (uint64_t v = uint64_t{UCD_GPU_BLOCK} * threads_per_block + thread; v < p.vectors;
             v += step)
            interpret_vector<direction>(p, v);
    }
}

} // namespace ucd::UCD_GPU
