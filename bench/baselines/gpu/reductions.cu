#include "vendor.hpp"

#include "baselines/reductions.hpp"

#include "baselines/gpu/nest_words.cuh"

#include <vector>

namespace bench::gpu::hand {
namespace {

constexpr unsigned threads = 256;

template <class Element>
__device__ Element combined(ReductionOp op, Element a, Element b) {
    if (op == ReductionOp::sum) return a + b;
    if (op == ReductionOp::min) return b < a ? b : a;
    return b > a ? b : a;
}
template <>
__device__ Half combined(ReductionOp op, Half a, Half b) {
    return static_cast<Half>(combined(op, static_cast<float>(a), static_cast<float>(b)));
}

// 16 packed bytes a thread, and as much of a block at once as there is. `block` and `stride` are
// bytes.
template <ReductionOp op, class Element, std::int64_t block, std::int64_t stride>
__global__ void __launch_bounds__(threads) combine_words(char *typed, const char *packed) {
    constexpr unsigned width = block < 16 ? block : 16, words = 16 / width, each = block / width;
    union Vector {
        uint4 whole;
        Word<width> word[words];
        Element element[16 / sizeof(Element)];
        __device__ Vector() {}
    };
    const std::uint32_t at = blockIdx.x * threads + threadIdx.x;
    Vector in, out;
    in.whole = __ldg(reinterpret_cast<const uint4 *>(packed) + at);
    Word<width> *place_of[words];
#pragma unroll
    for (unsigned k = 0; k < words; ++k) {
        const std::uint32_t word = at * words + k;
        place_of[k] = reinterpret_cast<Word<width> *>(
            typed + static_cast<std::int64_t>(word / each) * stride + word % each * width);
        out.word[k] = *place_of[k];
    }
#pragma unroll
    for (unsigned i = 0; i < 16 / sizeof(Element); ++i)
        out.element[i] = combined(op, out.element[i], in.element[i]);
#pragma unroll
    for (unsigned k = 0; k < words; ++k) *place_of[k] = out.word[k];
}

template <ReductionOp op, class Element, std::int64_t block, std::int64_t stride>
void start(char *typed, char *packed, std::int64_t count) {
    combine_words<op, Element, block, stride>
        <<<static_cast<unsigned>(count * block / 16 / threads), threads>>>(typed, packed);
}

template <ReductionOp op, class Element, std::int64_t block, std::int64_t stride>
ReductionMoves moves(Number number) {
    constexpr std::int64_t bytes = sizeof(Element);
    return {number, op, block / bytes, stride / bytes, nullptr, start<op, Element, block, stride>};
}

template <class Element, std::int64_t block>
void add_ops(std::vector<ReductionMoves> &all, Number number) {
    all.push_back(moves<ReductionOp::sum, Element, block, 512>(number));
    all.push_back(moves<ReductionOp::min, Element, block, 512>(number));
    all.push_back(moves<ReductionOp::max, Element, block, 512>(number));
}

template <std::int64_t block>
void add_numbers(std::vector<ReductionMoves> &all) {
    add_ops<double, block>(all, Number::float64);
    add_ops<float, block>(all, Number::float32);
    add_ops<std::int32_t, block>(all, Number::int32);
    add_ops<long long, block>(all, Number::int64);
    add_ops<Half, block>(all, Number::float16);
}

std::vector<ReductionMoves> all_reductions() {
    std::vector<ReductionMoves> all;
    add_numbers<8>(all);
    add_numbers<128>(all);
    add_numbers<512>(all); // contiguous
    // Single elements near each other: every byte of the memory's sectors counts.
    all.push_back(moves<ReductionOp::sum, float, 4, 8>(Number::float32));
    all.push_back(moves<ReductionOp::sum, float, 4, 12>(Number::float32));
    return all;
}

} // namespace

std::span<const ReductionMoves> reductions() {
    static const std::vector<ReductionMoves> all = all_reductions();
    return all;
}

} // namespace bench::gpu::hand
