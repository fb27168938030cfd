// The tables of the generated nest kernels, and the kernels that are not generated.
#pragma once

#include "params/nest.h"
#include "vendor.h"

#include <span>

namespace ucd::UCD_GPU {

using namespace gpu;

// Moving two vectors per thread pays for vectors of one word, and for vectors of two words in one
// level, since both words are mostly in the same run of a list.
template <unsigned width, unsigned levels>
inline constexpr unsigned
    max_per_thread = width == vector_bytes || (width == vector_bytes / 2 && levels == 1) ? 2 : 1;

struct NestKernel {
    const char *name;
    const void *handle; // the runtime's handle of the kernel
};

// The kernels for words of one width: for each direction, the shapes of one, two and three levels,
// in the order of LevelKind, where the innermost level changes fastest.
std::span<const NestKernel> nest_kernels(unsigned width);

inline const NestKernel &nest_kernel(Direction direction, std::span<const LevelKind> kinds,
                                     unsigned width) {
    constexpr std::size_t levels_before[] = {0, 0, 3, 3 + 9, 3 + 9 + 27};
    std::size_t shape = 0;
    for (const LevelKind kind : kinds) shape = shape * 3 + static_cast<std::size_t>(kind);
    const std::size_t shapes = levels_before[max_levels + 1];
    return nest_kernels(
        width)[static_cast<std::size_t>(direction) * shapes + levels_before[kinds.size()] + shape];
}

const void *interpreter_kernel(Direction direction);

const void *aligned_stores_kernel();

} // namespace ucd::UCD_GPU
