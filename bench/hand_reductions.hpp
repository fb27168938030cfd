// Fused loops by hand for reductions: one for each element, op and shape, all constants.
#pragma once

#include <cstdint>
#include <span>

namespace bench {

// destination = destination op source, for `count` blocks.
using ReductionLoop = void (*)(char *laid_out, char *packed, std::int64_t count);

enum class ReductionOp { sum, min, max };
enum class Number { float32, float64, int32, int64, float16, bfloat16 };

struct ReductionLoops {
    Number number;
    ReductionOp op;
    std::int64_t length, stride; // of a block, and from one to the next, in elements
    ReductionLoop pack, unpack;
};

namespace hand {

std::span<const ReductionLoops> reductions();

} // namespace hand
} // namespace bench
