// Floating formats, and their conversion with a scale: a quotient or a product is rounded once, to
// nearest, ties to even. Kernels on the host and on devices use these functions, so all give the
// same bits. They choose between results instead of branching, so that loops over them vectorise.
#pragma once

#include <cstdint>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define UCD_MODELS_FUNCTION __host__ __device__ inline __attribute__((always_inline))
#else
#define UCD_MODELS_FUNCTION inline __attribute__((always_inline))
#endif

// Without instructions for it, a fused multiply-add is a function that is slower than double
// precision.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__CUDACC__) || defined(__HIPCC__)
#define UCD_MODELS_HAS_FMA true
#else
#define UCD_MODELS_HAS_FMA false
#endif

namespace ucd_models {

UCD_MODELS_FUNCTION uint32_t bits_of(float value) {
    return __builtin_bit_cast(uint32_t, value);
}
UCD_MODELS_FUNCTION float float_of(uint32_t bits) {
    return __builtin_bit_cast(float, bits);
}

// beyond: the magnitude of infinity, or of the NaN of a format without. The numbers are those of
// the Python side.
template <class BitsType, uint32_t fraction, uint32_t bias_of_exponent, uint32_t beyond_bits,
          bool infinities>
struct Format {
    using Bits = BitsType;
    static constexpr uint32_t fraction_bits = fraction, bias = bias_of_exponent,
                              beyond = beyond_bits;
    static constexpr bool has_infinity = infinities, is_small = sizeof(Bits) == 1;
    static constexpr uint32_t sign_bit = 1u << (8 * sizeof(Bits) - 1);
    static constexpr uint32_t quiet_nan = has_infinity ? beyond | 1u << (fraction - 1) : beyond;
};
using Float32 = Format<uint32_t, 23, 127, 0x7f800000, true>;
using BFloat16 = Format<uint16_t, 7, 127, 0x7f80, true>;
using Float16 = Format<uint16_t, 10, 15, 0x7c00, true>;
using E4M3 = Format<uint8_t, 3, 7, 0x7f, false>;
using E5M2 = Format<uint8_t, 2, 15, 0x7c, true>;

// The value of a number as a float, exactly; a NaN becomes a quiet one.
template <class From>
UCD_MODELS_FUNCTION float widened(uint32_t all) {
    const uint32_t magnitude = all & (From::sign_bit - 1);
    const uint32_t sign = (all & From::sign_bit) << (32 - 8 * sizeof(typename From::Bits));
    constexpr uint32_t shift = 23 - From::fraction_bits, rebias = (127 - From::bias) << 23;
    uint32_t wide = (magnitude << shift) + rebias;
    if constexpr (rebias != 0) {
        // Subnormal numbers: an exponent more, and what that exponent's leading bit adds is taken
        // off again.
        constexpr uint32_t one_more = rebias + (1u << 23);
        const uint32_t subnormal = bits_of(float_of(wide + (1u << 23)) - float_of(one_more));
        wide = magnitude < (1u << From::fraction_bits) ? subnormal : wide;
        const bool is_nan = magnitude > From::beyond || !From::has_infinity;
        wide = magnitude < From::beyond ? wide : is_nan ? 0x7fc00000u : 0x7f800000u;
    }
    return float_of(wide | sign);
}

// Rounds to nearest, ties to even. limit: the magnitude that too large values become.
template <class To>
UCD_MODELS_FUNCTION uint32_t narrowed(float value, uint32_t limit) {
    constexpr uint32_t shift = 23 - To::fraction_bits, difference = 127 - To::bias,
                       rebias = difference << 23;
    // Larger values become `beyond`, as this one does.
    constexpr uint32_t most = (To::beyond << shift) + rebias;
    const uint32_t bits = bits_of(value), all = bits & 0x7fffffffu;
    const uint32_t magnitude = all < most ? all : most;
    uint32_t rounded = magnitude;
    if constexpr (shift != 0)
        rounded =
            (magnitude - rebias + ((1u << (shift - 1)) - 1) + ((magnitude >> shift) & 1u)) >> shift;
    if constexpr (difference != 0) {
        // Subnormal numbers: the addition of a power of two rounds to multiples of the smallest
        // one.
        constexpr uint32_t unit = (difference + 1 + shift) << 23;
        const uint32_t subnormal = bits_of(float_of(magnitude) + float_of(unit)) - unit;
        rounded = magnitude < ((difference + 1) << 23) ? subnormal : rounded;
    }
    rounded = rounded < limit ? rounded : limit;
    rounded = all > 0x7f800000u ? To::quiet_nan : rounded;
    return rounded | ((bits >> (32 - 8 * sizeof(typename To::Bits))) & To::sign_bit);
}

// An inexact result whose last bit is even is replaced by its neighbour towards the exact one. So
// the last bit is odd whenever the result is inexact, and rounding it to a format with at least two
// bits less is rounding the exact one. rest: has the sign of the exact result less this one; 0 if
// that is nothing, and NaN for infinities.
UCD_MODELS_FUNCTION float made_odd(float result, float rest) {
    const uint32_t bits = bits_of(result);
    const uint32_t step =
        1u | static_cast<uint32_t>(static_cast<int32_t>(bits ^ bits_of(rest)) >> 31);
    return float_of(__builtin_fabsf(rest) > 0.0f && (bits & 1u) == 0 ? bits + step : bits);
}
UCD_MODELS_FUNCTION float made_odd(double exact) {
    const float result = static_cast<float>(exact);
    // Not by subtraction, which is not a number for infinities.
    const double near = static_cast<double>(result);
    return made_odd(result, exact > near ? 1.0f : exact < near ? -1.0f : 0.0f);
}

// A scale, with what is the same for all elements that have it.
struct Scale {
    float value, reciprocal;
    bool is_ordinary; // neither results that matter nor what is left of them leave the range of
                      // floats
};
UCD_MODELS_FUNCTION bool is_ordinary(float scale) {
    const uint32_t magnitude = bits_of(scale) & 0x7fffffffu;
    return UCD_MODELS_HAS_FMA && magnitude >= bits_of(0x1p-60f) && magnitude <= bits_of(0x1p100f);
}
UCD_MODELS_FUNCTION Scale scale_of(float value) {
    return {value, 1.0f / value, is_ordinary(value)};
}

// Results beyond these become 0 or too large for 8 bits, or have their low bits all rounded away.
constexpr float large_quotient = 0x1p20f;

// A float that rounds to the same 8-bit number as value / scale. The scale is ordinary.
UCD_MODELS_FUNCTION float quotient(float value, const Scale &scale) {
    const float first = value * scale.reciprocal;
    const float better =
        __builtin_fmaf(__builtin_fmaf(-first, scale.value, value), scale.reciprocal, first);
    // Exact, since `better` is the quotient to one unit of its last place.
    const float rest = __builtin_fmaf(-better, scale.value, value);
    const float towards = float_of(bits_of(rest) ^ (bits_of(scale.value) & 0x80000000u));
    return __builtin_fabsf(first) < large_quotient ? made_odd(better, towards) : first;
}

// A float that rounds to the same number of 16 or 32 bits as value * scale. The scale is ordinary,
// the value of 8 bits.
template <class To>
UCD_MODELS_FUNCTION float product(float value, const Scale &scale) {
    const float result = value * scale.value;
    if constexpr (sizeof(typename To::Bits) == 4)
        return result;
    else
        return made_odd(result, __builtin_fmaf(value, scale.value, -result));
}

// Conversions to 8 bits divide by the scale, those from 8 bits multiply; others have none.
template <class From, class To>
inline constexpr bool divides = To::is_small && !From::is_small;
template <class From, class To>
inline constexpr bool multiplies = From::is_small && !To::is_small;

// The sign is that of both operands, for a NaN too.
UCD_MODELS_FUNCTION float with_sign_of(float result, float value, float scale) {
    const uint32_t sign = (bits_of(value) ^ bits_of(scale)) & 0x80000000u;
    return float_of((bits_of(result) & 0x7fffffffu) | sign);
}

template <class From, class To, bool ordinary>
UCD_MODELS_FUNCTION uint32_t converted(uint32_t number, const Scale &scale, uint32_t limit) {
    const float value = widened<From>(number);
    float result = value;
    if constexpr (divides<From, To>)
        result = ordinary ? quotient(value, scale)
                          : made_odd(static_cast<double>(value) / static_cast<double>(scale.value));
    else if constexpr (multiplies<From, To> && sizeof(typename To::Bits) == 4)
        result = value * scale.value;
    else if constexpr (multiplies<From, To>)
        result = ordinary ? product<To>(value, scale)
                          : made_odd(static_cast<double>(value) * static_cast<double>(scale.value));
    if constexpr (divides<From, To> || multiplies<From, To>)
        result = with_sign_of(result, value, scale.value);
    return narrowed<To>(result, limit);
}

template <class To>
UCD_MODELS_FUNCTION uint32_t limit_of(bool saturate) {
    return saturate ? To::beyond - 1 : To::beyond;
}

} // namespace ucd_models
