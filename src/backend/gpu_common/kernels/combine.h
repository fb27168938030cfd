// The result for one element: `a` is the destination's, `b` the source's. The formulas are those of
// the CPU's kernels, so that results are bit-identical; compiled without fused multiply-add.
#pragma once

#include "element.h"
#include "vendor.h"

#include <cstdint>
#include <type_traits>

namespace ucd::UCD_GPU {

template <class T>
struct Complex {
    T real, imaginary;
};

template <class Value, class Index>
struct Pair {
    Value value;
    Index index;
};

template <Op op, class T>
UCD_GPU_FUNCTION T combined(T a, T b) {
    // A small unsigned type would be promoted to int, whose product can overflow.
    using Sum = std::conditional_t<std::is_integral_v<T> && sizeof(T) < 4, uint32_t, T>;
    if constexpr (op == Op::sum) return static_cast<T>(Sum{a} + Sum{b});
    if constexpr (op == Op::prod) return static_cast<T>(Sum{a} * Sum{b});
    if constexpr (op == Op::max) return b > a ? b : a;
    if constexpr (op == Op::min) return b < a ? b : a;
    if constexpr (op == Op::land) return a != 0 && b != 0;
    if constexpr (op == Op::lor) return a != 0 || b != 0;
    if constexpr (op == Op::lxor) return (a != 0) != (b != 0);
    if constexpr (op == Op::band) return static_cast<T>(a & b);
    if constexpr (op == Op::bor) return static_cast<T>(a | b);
    if constexpr (op == Op::bxor) return static_cast<T>(a ^ b);
}

// Sums and products are computed in float and rounded; max and min return one operand unchanged.
template <Op op>
UCD_GPU_FUNCTION Float16 combined(Float16 a, Float16 b) {
    const float x = float16_to_float(a), y = float16_to_float(b);
    if constexpr (op == Op::max) return y > x ? b : a;
    if constexpr (op == Op::min) return y < x ? b : a;
    return float_to_float16(combined<op>(x, y));
}
template <Op op, class Small>
UCD_GPU_FUNCTION Small combined_small(Small a, Small b) {
    const float x = to_float(a), y = to_float(b);
    if constexpr (op == Op::max) return y > x ? b : a;
    if constexpr (op == Op::min) return y < x ? b : a;
    return from_float(Small{}, combined<op>(x, y));
}
template <Op op>
UCD_GPU_FUNCTION BFloat16 combined(BFloat16 a, BFloat16 b) {
    return combined_small<op>(a, b);
}
template <Op op>
UCD_GPU_FUNCTION Float8E4M3 combined(Float8E4M3 a, Float8E4M3 b) {
    return combined_small<op>(a, b);
}
template <Op op>
UCD_GPU_FUNCTION Float8E5M2 combined(Float8E5M2 a, Float8E5M2 b) {
    return combined_small<op>(a, b);
}

template <Op op, class T>
UCD_GPU_FUNCTION Complex<T> combined(Complex<T> a, Complex<T> b) {
    if constexpr (op == Op::sum) return {a.real + b.real, a.imaginary + b.imaginary};
    if constexpr (op == Op::prod)
        return {a.real * b.real + -a.imaginary * b.imaginary,
                a.real * b.imaginary + a.imaginary * b.real};
}

template <Op op, class Value, class Index>
UCD_GPU_FUNCTION Pair<Value, Index> combined(Pair<Value, Index> a, Pair<Value, Index> b) {
    const bool better = op == Op::maxloc ? b.value > a.value : b.value < a.value;
    const bool earlier = b.value == a.value && b.index < a.index;
    // Not written as a conditional expression on objects, for which some compilers take addresses
    // and use memory.
    if (better || earlier) a = b;
    return a;
}

} // namespace ucd::UCD_GPU
