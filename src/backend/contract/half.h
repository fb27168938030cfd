// float16 and bfloat16 as bit patterns, computed in float. Conversions choose between results
// instead of branching, so that loops over them vectorise, and never feed a subnormal float to
// arithmetic, so that they hold in threads that flush those to zero.
#pragma once

#include <cstdint>

// How these functions are declared, which backends that compile for devices say first. Otherwise
// always inline: kernels are compiled for several instruction sets, and a shared copy of these
// functions could be the one for a machine that is not there.
#if !defined(UCD_HALF_FUNCTION)
#define UCD_HALF_FUNCTION [[gnu::always_inline]] inline
#endif

namespace ucd {

struct Float16 {
    uint16_t bits;
};

struct BFloat16 {
    uint16_t bits;
};

UCD_HALF_FUNCTION float float_of(uint32_t bits) {
    return __builtin_bit_cast(float, bits);
}
UCD_HALF_FUNCTION uint32_t bits_of(float value) {
    return __builtin_bit_cast(uint32_t, value);
}

UCD_HALF_FUNCTION float to_float(Float16 half) {
    constexpr uint32_t rebias = uint32_t{127 - 15} << 23;
    constexpr uint32_t smallest_normal = uint32_t{113} << 23; // 2^-14
    const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000u) << 16;
    const uint32_t shifted = static_cast<uint32_t>(half.bits & 0x7fffu) << 13;
    const uint32_t exponent = shifted & 0x0f800000u;
    // A subnormal is mantissa * 2^-24: put the mantissa under 2^-14 and take that away again.
    const float subnormal = float_of(shifted + smallest_normal) - float_of(smallest_normal);
    const uint32_t finite = shifted + rebias;
    const uint32_t infinite = finite + rebias; // infinity or NaN: all exponent bits
    const uint32_t normal = exponent == 0x0f800000u ? infinite : finite;
    return float_of(sign | (exponent == 0 ? bits_of(subnormal) : normal));
}

// Rounds to nearest, ties to even. A NaN keeps its sign and upper bits and becomes quiet.
UCD_HALF_FUNCTION Float16 to_float16(float value) {
    constexpr uint32_t infinity = 0x7f800000u;
    constexpr uint32_t too_large = uint32_t{127 + 16} << 23;  // 2^16
    constexpr uint32_t smallest_normal = uint32_t{113} << 23; // 2^-14
    constexpr uint32_t unit = uint32_t{126} << 23;            // 0.5, whose last place is 2^-24
    const uint32_t bits = bits_of(value);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    // What exceeds the largest finite number carries into the exponent and becomes infinity.
    const uint32_t odd = (magnitude >> 13) & 1u;
    const uint32_t normal = (magnitude - (uint32_t{127 - 15} << 23) + 0xfffu + odd) >> 13;
    // The addition rounds to multiples of 2^-24.
    const uint32_t subnormal = bits_of(float_of(magnitude) + float_of(unit)) - unit;
    const uint32_t special =
        magnitude > infinity ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : 0x7c00u;
    const uint32_t finite = magnitude < smallest_normal ? subnormal : normal;
    return {static_cast<uint16_t>(sign | (magnitude >= too_large ? special : finite))};
}

UCD_HALF_FUNCTION float to_float(BFloat16 half) {
    return float_of(static_cast<uint32_t>(half.bits) << 16);
}

// The bfloat16 in the upper half; the lower one is left over. Rounds to nearest, ties to even. A
// NaN keeps its sign and upper bits and becomes quiet.
UCD_HALF_FUNCTION uint32_t rounded_to_bfloat16(float value) {
    const uint32_t bits = bits_of(value);
    const uint32_t odd = (bits >> 16) & 1u;
    const uint32_t rounded = bits + 0x7fffu + odd;
    const uint32_t quiet = bits | 0x400000u;
    return (bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded;
}

UCD_HALF_FUNCTION BFloat16 to_bfloat16(float value) {
    return {static_cast<uint16_t>(rounded_to_bfloat16(value) >> 16)};
}

UCD_HALF_FUNCTION Float16 from_float(Float16, float value) {
    return to_float16(value);
}
UCD_HALF_FUNCTION BFloat16 from_float(BFloat16, float value) {
    return to_bfloat16(value);
}

} // namespace ucd
