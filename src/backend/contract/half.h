// The floating formats of 8 and 16 bits as bit patterns, computed in float. Conversions choose
// between results instead of branching, so that loops over them vectorise. No result depends on
// arithmetic with a subnormal float, so they hold in threads that flush those to zero.
#pragma once

#include <cstdint>

// This declares the functions here and in convert.h. Backends that compile for devices
// define it beforehand. Otherwise always inline: kernels are compiled for several instruction sets,
// and the linker could keep a shared copy that this machine cannot run.
#if !defined(UCD_ELEMENT_FUNCTION)
#define UCD_ELEMENT_FUNCTION [[gnu::always_inline]] inline
#endif

namespace ucd {

struct Float16 {
    uint16_t bits;
};

struct BFloat16 {
    uint16_t bits;
};

struct Float8E4M3 {
    uint8_t bits;
};

struct Float8E5M2 {
    uint8_t bits;
};

UCD_ELEMENT_FUNCTION float float_of(uint32_t bits) {
    return __builtin_bit_cast(float, bits);
}
UCD_ELEMENT_FUNCTION uint32_t bits_of(float value) {
    return __builtin_bit_cast(uint32_t, value);
}

UCD_ELEMENT_FUNCTION float to_float(Float16 half) {
    constexpr uint32_t rebias = uint32_t{127 - 15} << 23;
    constexpr uint32_t smallest_normal = uint32_t{113} << 23; // 2^-14
    const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000u) << 16;
    const uint32_t shifted = static_cast<uint32_t>(half.bits & 0x7fffu) << 13;
    const uint32_t exponent = shifted & 0x0f800000u;
    // A subnormal is mantissa * 2^-24. Put the mantissa under 2^-14, then subtract 2^-14.
    const float subnormal = float_of(shifted + smallest_normal) - float_of(smallest_normal);
    const uint32_t finite = shifted + rebias;
    const uint32_t infinite = finite + rebias; // infinity or NaN: all exponent bits
    const uint32_t normal = exponent == 0x0f800000u ? infinite : finite;
    return float_of(sign | (exponent == 0 ? bits_of(subnormal) : normal));
}

// Rounds the magnitude of a float, which is below twice the format's largest finite number, to
// nearest, ties to even. Values that round up beyond that number carry into the exponent.
template <uint32_t fraction_bits, uint32_t bias>
UCD_ELEMENT_FUNCTION uint32_t rounded_magnitude(uint32_t magnitude) {
    constexpr uint32_t shift = 23 - fraction_bits;
    constexpr uint32_t smallest_normal = (128 - bias) << 23;
    // A power of two whose unit in the last place is that of the format's subnormal numbers.
    constexpr uint32_t unit = (127 + 1 - bias + 23 - fraction_bits) << 23;
    const uint32_t odd = (magnitude >> shift) & 1u;
    const uint32_t normal =
        (magnitude - ((127 - bias) << 23) + (1u << (shift - 1)) - 1 + odd) >> shift;
    // The addition rounds to multiples of that unit.
    const uint32_t subnormal = bits_of(float_of(magnitude) + float_of(unit)) - unit;
    return magnitude < smallest_normal ? subnormal : normal;
}

// For formats with the exponents of float16. Infinities are kept, and too large values become
// infinities. A NaN keeps its sign and upper bits and becomes quiet. The result has `fraction_bits`
// + 6 bits.
template <uint32_t fraction_bits>
UCD_ELEMENT_FUNCTION uint32_t rounded_to_5_exponent_bits(float value) {
    constexpr uint32_t all_exponent_bits = 31u << fraction_bits;
    constexpr uint32_t quiet = 1u << (fraction_bits - 1);
    constexpr uint32_t too_large = uint32_t{127 + 16} << 23; // 2^16
    const uint32_t bits = bits_of(value);
    const uint32_t sign = (bits >> 31) << (fraction_bits + 5);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t nan_bits = quiet | ((magnitude >> (23 - fraction_bits)) & (2 * quiet - 1));
    const uint32_t special = all_exponent_bits | (magnitude > 0x7f800000u ? nan_bits : 0);
    const uint32_t finite = rounded_magnitude<fraction_bits, 15>(magnitude);
    return sign | (magnitude >= too_large ? special : finite);
}

UCD_ELEMENT_FUNCTION Float16 from_float(Float16, float value) {
    return {static_cast<uint16_t>(rounded_to_5_exponent_bits<10>(value))};
}

// An e5m2 number is the upper byte of a float16.
UCD_ELEMENT_FUNCTION float to_float(Float8E5M2 small) {
    return to_float(Float16{static_cast<uint16_t>(small.bits << 8)});
}

UCD_ELEMENT_FUNCTION Float8E5M2 from_float(Float8E5M2, float value) {
    return {static_cast<uint8_t>(rounded_to_5_exponent_bits<2>(value))};
}

UCD_ELEMENT_FUNCTION float to_float(Float8E4M3 small) {
    constexpr uint32_t smallest_normal = uint32_t{121} << 23; // 2^-6
    const uint32_t sign = static_cast<uint32_t>(small.bits & 0x80u) << 24;
    const uint32_t magnitude = small.bits & 0x7fu;
    const uint32_t shifted = magnitude << 20;
    // Same as for float16, except that all exponent bits also occur in finite numbers.
    const float subnormal = float_of(shifted + smallest_normal) - float_of(smallest_normal);
    const uint32_t finite = shifted + (uint32_t{127 - 7} << 23);
    const uint32_t normal = magnitude == 0x7fu ? 0x7fc00000u : finite;
    return float_of(sign | (magnitude < 8 ? bits_of(subnormal) : normal));
}

// Rounds to nearest, ties to even. Values that round above 448, infinities and NaNs become the NaN
// of the same sign.
UCD_ELEMENT_FUNCTION Float8E4M3 from_float(Float8E4M3, float value) {
    constexpr uint32_t largest_rounded_down = 0x43e80000u; // 464, half way from 448 to 480
    const uint32_t bits = bits_of(value);
    const uint32_t sign = (bits >> 24) & 0x80u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t finite = rounded_magnitude<3, 7>(magnitude);
    return {static_cast<uint8_t>(sign | (magnitude > largest_rounded_down ? 0x7fu : finite))};
}

UCD_ELEMENT_FUNCTION float to_float(BFloat16 half) {
    return float_of(static_cast<uint32_t>(half.bits) << 16);
}

// The result is in the upper 16 bits; the lower ones are undefined. Rounds to nearest, ties to
// even. A NaN keeps its sign and upper bits and becomes quiet.
UCD_ELEMENT_FUNCTION uint32_t rounded_to_bfloat16(float value) {
    const uint32_t bits = bits_of(value);
    const uint32_t odd = (bits >> 16) & 1u;
    const uint32_t rounded = bits + 0x7fffu + odd;
    const uint32_t quiet = bits | 0x400000u;
    return (bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded;
}

UCD_ELEMENT_FUNCTION BFloat16 from_float(BFloat16, float value) {
    return {static_cast<uint16_t>(rounded_to_bfloat16(value) >> 16)};
}

} // namespace ucd
