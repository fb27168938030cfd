// Kernels that combine a packed stream with a layout: one each for op, element and layout.
#pragma once

#include "shapes.hpp"

#include <cstddef>

namespace bench::gpu::hand {

enum class ReductionOp { sum, min, max };
enum class ReductionElement { float64, float32, int32, int64, float16 };
enum class ReductionLayout { blocks_of_8, blocks_of_128, contiguous };

inline constexpr std::int64_t reduced_bytes = 64 * shapes::mib;
constexpr std::int64_t block_of(ReductionLayout layout) {
    return layout == ReductionLayout::blocks_of_8     ? 8
           : layout == ReductionLayout::blocks_of_128 ? 128
                                                      : 512;
}
inline constexpr std::int64_t reduced_stride = 512;

struct Reduction {
    // Starts the kernel in the null stream.
    void (*combine)(char *laid_out, const char *packed);
    // Fills the layout's elements and the packed ones with small numbers.
    void (*set)(char *laid_out, char *packed);
    // How many elements are not those that were set, combined once. By a formula of its own.
    std::size_t (*count_wrong)(const char *laid_out);
};

Reduction reduction(ReductionOp op, ReductionElement element, ReductionLayout layout);

} // namespace bench::gpu::hand
