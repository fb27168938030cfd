#include "hand_reductions.hpp"

#include "nest_words.cuh"

#include <cuda_fp16.h>

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
__device__ __half combined(ReductionOp op, __half a, __half b) {
    return __float2half_rn(combined(op, __half2float(a), __half2float(b)));
}

template <std::int64_t block>
__device__ std::int64_t place(std::uint32_t at, std::uint32_t width) {
    const std::uint32_t each = static_cast<std::uint32_t>(block) / width;
    return static_cast<std::int64_t>(at / each) * reduced_stride + at % each * width;
}

// 16 packed bytes a thread, and as much of a block at once as there is.
template <ReductionOp op, class Element, std::int64_t block>
__global__ void __launch_bounds__(threads) combine_words(char *laid_out, const char *packed) {
    constexpr unsigned width = block < 16 ? block : 16, words = 16 / width;
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
        place_of[k] =
            reinterpret_cast<Word<width> *>(laid_out + place<block>(at * words + k, width));
        out.word[k] = *place_of[k];
    }
#pragma unroll
    for (unsigned i = 0; i < 16 / sizeof(Element); ++i)
        out.element[i] = combined(op, out.element[i], in.element[i]);
#pragma unroll
    for (unsigned k = 0; k < words; ++k) *place_of[k] = out.word[k];
}

// What the numbered elements are before: small enough that sums are exact in every type.
__device__ int before(std::uint32_t at) {
    return static_cast<int>(at % 11) - 5;
}
__device__ int arriving(std::uint32_t at) {
    return static_cast<int>((at * 7 + 3) % 13) - 6;
}

template <class Element, std::int64_t block>
__global__ void set_elements(char *laid_out, char *packed) {
    const std::uint32_t at = blockIdx.x * threads + threadIdx.x;
    *reinterpret_cast<Element *>(laid_out + place<block>(at, sizeof(Element))) =
        static_cast<Element>(static_cast<float>(before(at)));
    reinterpret_cast<Element *>(packed)[at] =
        static_cast<Element>(static_cast<float>(arriving(at)));
}

template <ReductionOp op, class Element, std::int64_t block>
__global__ void count_wrong_elements(const char *laid_out, unsigned long long *count) {
    const std::uint32_t at = blockIdx.x * threads + threadIdx.x;
    const int a = before(at), b = arriving(at);
    const int expected = op == ReductionOp::sum   ? a + b
                         : op == ReductionOp::min ? min(a, b)
                                                  : max(a, b);
    const auto found = static_cast<float>(
        *reinterpret_cast<const Element *>(laid_out + place<block>(at, sizeof(Element))));
    if (found != static_cast<float>(expected)) atomicAdd(count, 1ull);
}

template <ReductionOp op, class Element, std::int64_t block>
Reduction reduction_of() {
    constexpr unsigned element_blocks = reduced_bytes / sizeof(Element) / threads;
    return {[](char *laid_out, const char *packed) {
                combine_words<op, Element, block>
                    <<<reduced_bytes / 16 / threads, threads>>>(laid_out, packed);
            },
            [](char *laid_out, char *packed) {
                set_elements<Element, block><<<element_blocks, threads>>>(laid_out, packed);
            },
            [](const char *laid_out) {
                unsigned long long *count = nullptr, wrong = ~0ull;
                if (cudaMalloc(&count, sizeof *count) != cudaSuccess) return std::size_t{~0ull};
                if (cudaMemset(count, 0, sizeof *count) == cudaSuccess) {
                    count_wrong_elements<op, Element, block>
                        <<<element_blocks, threads>>>(laid_out, count);
                    if (cudaMemcpy(&wrong, count, sizeof wrong, cudaMemcpyDefault) != cudaSuccess)
                        wrong = ~0ull;
                }
                (void)cudaFree(count);
                return std::size_t{wrong};
            }};
}

template <ReductionOp op, class Element>
Reduction with_layout(ReductionLayout layout) {
    switch (layout) {
    case ReductionLayout::blocks_of_8: return reduction_of<op, Element, 8>();
    case ReductionLayout::blocks_of_128: return reduction_of<op, Element, 128>();
    case ReductionLayout::contiguous: break;
    }
    return reduction_of<op, Element, reduced_stride>();
}

template <ReductionOp op>
Reduction with_element(ReductionElement element, ReductionLayout layout) {
    switch (element) {
    case ReductionElement::float64: return with_layout<op, double>(layout);
    case ReductionElement::float32: return with_layout<op, float>(layout);
    case ReductionElement::int32: return with_layout<op, std::int32_t>(layout);
    case ReductionElement::int64: return with_layout<op, long long>(layout);
    case ReductionElement::float16: break;
    }
    return with_layout<op, __half>(layout);
}

} // namespace

Reduction reduction(ReductionOp op, ReductionElement element, ReductionLayout layout) {
    switch (op) {
    case ReductionOp::sum: return with_element<ReductionOp::sum>(element, layout);
    case ReductionOp::min: return with_element<ReductionOp::min>(element, layout);
    case ReductionOp::max: break;
    }
    return with_element<ReductionOp::max>(element, layout);
}

} // namespace bench::gpu::hand
