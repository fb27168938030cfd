// Conversion of one element to another representation, by the rule of UCD_OP__CONVERT. Kernels on
// every kind of device use these functions, so all give the same bits. They choose between results
// instead of branching, so that loops over them vectorise, and need the default floating-point
// environment: rounding to nearest, subnormal numbers kept.
#pragma once

#include "half.h"

#include <cstdint>

namespace ucd {

// A byte of which every value but 0 means 1.
struct Bool8 {
    uint8_t bits;
};

// What conversions need to know about a representation; of integers and Bool8, nothing else.
template <class T>
struct Format {
    using Bits = uint8_t; // unused
    static constexpr bool is_float = false;
};

template <class BitsType, uint32_t fraction, uint32_t bias_of_exponent, uint64_t beyond_bits>
struct FloatFormat {
    using Bits = BitsType;
    static constexpr bool is_float = true;
    static constexpr uint32_t fraction_bits = fraction, bias = bias_of_exponent;
    static constexpr Bits sign_bit = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    // The magnitude that too large values become: infinity, or the NaN of a format without.
    static constexpr Bits beyond = static_cast<Bits>(beyond_bits);
    static constexpr Bits largest = static_cast<Bits>(beyond - 1);
    static constexpr bool has_infinity = (beyond_bits & ((uint64_t{1} << fraction) - 1)) == 0;
    static constexpr Bits quiet_nan = static_cast<Bits>(
        has_infinity ? beyond_bits | (uint64_t{1} << (fraction - 1)) : beyond_bits);
};

template <>
struct Format<Float16> : FloatFormat<uint16_t, 10, 15, 0x7c00> {};
template <>
struct Format<BFloat16> : FloatFormat<uint16_t, 7, 127, 0x7f80> {};
template <>
struct Format<Float8E4M3> : FloatFormat<uint8_t, 3, 7, 0x7f> {};
template <>
struct Format<Float8E5M2> : FloatFormat<uint8_t, 2, 15, 0x7c> {};
template <>
struct Format<float> : FloatFormat<uint32_t, 23, 127, 0x7f800000> {};
template <>
struct Format<double> : FloatFormat<uint64_t, 52, 1023, 0x7ff0000000000000> {};

template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;

UCD_ELEMENT_FUNCTION uint32_t convert_bits(float value) {
    return __builtin_bit_cast(uint32_t, value);
}
UCD_ELEMENT_FUNCTION uint64_t convert_bits(double value) {
    return __builtin_bit_cast(uint64_t, value);
}
UCD_ELEMENT_FUNCTION float convert_value(uint32_t bits) {
    return __builtin_bit_cast(float, bits);
}
UCD_ELEMENT_FUNCTION double convert_value(uint64_t bits) {
    return __builtin_bit_cast(double, bits);
}

// ---- to floating formats ------------------------------------------------------------------------

// The magnitude that stands for values beyond the largest finite number.
template <class To>
UCD_ELEMENT_FUNCTION typename Format<To>::Bits limit_of(bool saturate) {
    if constexpr (Format<To>::is_float) {
        // Copies, because device code may not refer to members of host classes.
        constexpr auto largest = Format<To>::largest, beyond = Format<To>::beyond;
        return saturate ? largest : beyond;
    }
    return {};
}

// Rounds a float or double, given by its bits, to a narrower format, to nearest, ties to even.
template <class To, class From>
UCD_ELEMENT_FUNCTION To rounded_to(From value, typename Format<To>::Bits limit) {
    using Wide = Format<From>;
    using Narrow = Format<To>;
    using Bits = typename Wide::Bits;
    constexpr uint32_t shift = Wide::fraction_bits - Narrow::fraction_bits;
    constexpr Bits magnitude_mask = Wide::sign_bit - 1;
    constexpr uint32_t bias_difference = Wide::bias - Narrow::bias;
    constexpr Bits rebias = static_cast<Bits>(Bits{bias_difference} << Wide::fraction_bits);
    // Larger values become `beyond` as this one does.
    constexpr Bits most = static_cast<Bits>((Bits{Narrow::beyond} << shift) + rebias);
    const Bits bits = convert_bits(value);
    const Bits all = bits & magnitude_mask;
    const Bits magnitude = all < most ? all : most;
    const Bits odd = (magnitude >> shift) & 1u;
    Bits rounded = (magnitude - rebias + ((Bits{1} << (shift - 1)) - 1) + odd) >> shift;
    if constexpr (bias_difference != 0) {
        // Numbers that are subnormal in the narrower format: the addition of a power of two rounds
        // to multiples of the smallest one.
        constexpr Bits smallest_normal =
            static_cast<Bits>(Bits{bias_difference + 1} << Wide::fraction_bits);
        constexpr Bits unit =
            static_cast<Bits>(Bits{bias_difference + 1 + shift} << Wide::fraction_bits);
        const Bits subnormal = convert_bits(convert_value(magnitude) + convert_value(unit)) - unit;
        rounded = magnitude < smallest_normal ? subnormal : rounded;
    }
    rounded = rounded < Bits{limit} ? rounded : Bits{limit};
    rounded = all > Wide::beyond ? Bits{Narrow::quiet_nan} : rounded;
    const Bits sign =
        (bits >> (8 * (sizeof(Bits) - sizeof(typename Narrow::Bits)))) & Bits{Narrow::sign_bit};
    return {static_cast<typename Narrow::Bits>(rounded | sign)};
}

// Gives a NaN its quiet form, and limits infinities.
UCD_ELEMENT_FUNCTION float limited(float value, uint32_t limit) {
    const uint32_t bits = convert_bits(value), magnitude = bits & 0x7fffffffu;
    const uint32_t finite = magnitude < limit ? magnitude : limit;
    const uint32_t result = magnitude > 0x7f800000u ? 0x7fc00000u : finite;
    return convert_value(result | (bits & 0x80000000u));
}
UCD_ELEMENT_FUNCTION double limited(double value, uint64_t limit) {
    using F = Format<double>;
    const uint64_t bits = convert_bits(value), magnitude = bits & ~F::sign_bit;
    const uint64_t finite = magnitude < limit ? magnitude : limit;
    const uint64_t result = magnitude > F::beyond ? uint64_t{F::quiet_nan} : finite;
    return convert_value(result | (bits & F::sign_bit));
}

// A number with the value of a 64-bit integer that rounds to the same float or narrower number, and
// which a double holds: of integers of more than 53 bits, the lowest bits are replaced by one that
// says whether any of them was set.
UCD_ELEMENT_FUNCTION double nearly(uint64_t value) {
    const uint64_t lowest = value & 0x7ff;
    const uint64_t folded = (value & ~uint64_t{0x7ff}) | (lowest != 0 ? uint64_t{0x800} : 0);
    return static_cast<double>(value < uint64_t{1} << 53 ? value : folded);
}
UCD_ELEMENT_FUNCTION double nearly(int64_t value) {
    const bool negative = value < 0;
    const uint64_t magnitude =
        negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    const double result = nearly(magnitude);
    return negative ? -result : result;
}

// A float or double that rounds to the same narrower number as the given one.
template <class From>
UCD_ELEMENT_FUNCTION auto wide_of(From value) {
    if constexpr (is_same<From, float> || is_same<From, double>)
        return value;
    else if constexpr (is_same<From, Bool8>)
        return value.bits != 0 ? 1.0f : 0.0f;
    else if constexpr (Format<From>::is_float)
        return to_float(value);
    else if constexpr (sizeof(From) <= 2)
        return static_cast<float>(value);
    else if constexpr (sizeof(From) == 4)
        return static_cast<double>(value);
    else
        return nearly(value);
}

template <class To, class From>
UCD_ELEMENT_FUNCTION To to_float_format(From value, typename Format<To>::Bits limit) {
    constexpr bool is_integer = !Format<From>::is_float && !is_same<From, Bool8>;
    if constexpr (is_same<To, float> || is_same<To, double>) {
        if constexpr (is_integer)
            return static_cast<To>(value); // in range, and rounded once
        else
            return limited(static_cast<To>(wide_of(value)), limit);
    } else {
        return rounded_to<To>(wide_of(value), limit);
    }
}

// ---- to integers --------------------------------------------------------------------------------

template <class To>
inline constexpr bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
template <class To>
inline constexpr To lowest_of = is_signed<To> ? static_cast<To>(uint64_t{1} << (8 * sizeof(To) - 1))
                                              : To{0};
template <class To>
inline constexpr To highest_of = static_cast<To>(~lowest_of<To>);

// Toward zero, saturating; a NaN becomes 0.
template <class To, class From>
UCD_ELEMENT_FUNCTION To truncated(From value) {
    constexpr From low = static_cast<From>(lowest_of<To>);
    // The power of two above the highest value.
    constexpr From beyond = static_cast<From>(highest_of<To> / 2 + 1) * 2;
    const From in_range = ((value >= low) & (value < beyond)) ? value : From{0};
    To result;
    if constexpr (sizeof(To) < 4)
        result = static_cast<To>(static_cast<int32_t>(in_range));
    else
        result = static_cast<To>(in_range);
    constexpr To highest = highest_of<To>, lowest = lowest_of<To>;
    result = value >= beyond ? highest : result;
    return value < low ? lowest : result;
}

// ---- any to any ---------------------------------------------------------------------------------

template <class From>
UCD_ELEMENT_FUNCTION bool is_nonzero(From value) {
    if constexpr (is_same<From, Bool8>)
        return value.bits != 0;
    else if constexpr (sizeof(From) <= 2 && Format<From>::is_float)
        return (value.bits & (Format<From>::sign_bit - 1u)) != 0;
    else
        return value != From{0};
}

// Converts one element. `limit` is limit_of<To>().
template <class To, class From>
UCD_ELEMENT_FUNCTION To convert(From value, typename Format<To>::Bits limit) {
    if constexpr (is_same<To, Bool8>)
        return {static_cast<uint8_t>(is_nonzero(value))};
    else if constexpr (Format<To>::is_float)
        return to_float_format<To>(value, limit);
    else if constexpr (is_same<From, Bool8>)
        return static_cast<To>(is_nonzero(value));
    else if constexpr (Format<From>::is_float)
        return truncated<To>(wide_of(value));
    else
        return static_cast<To>(value); // modulo 2^N
}

} // namespace ucd
