// Fused moves by hand that combine a packed stream with a layout: one for each element, op and
// shape, all constants.
#pragma once

#include <cstdint>
#include <span>

namespace bench {

enum class ReductionOp { sum, min, max };
enum class Number { float32, float64, int32, int64, float16, bfloat16 };

// destination = destination op source, for `count` blocks. A GPU's start kernels in the null
// stream, for whole blocks of threads.
using ReductionMove = void (*)(char *typed, char *packed, std::int64_t count);

struct ReductionMoves {
    Number number;
    ReductionOp op;
    std::int64_t length, stride; // of a block, and from one to the next, in elements
    ReductionMove pack, unpack;  // null: not written
};

namespace hand {
std::span<const ReductionMoves> reductions(); // loops of the CPU
}
namespace gpu::hand {
std::span<const ReductionMoves> reductions();
}

} // namespace bench
