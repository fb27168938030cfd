// The representation of a predefined type, independent of its name in C. Two handles with one
// representation (LONG and INT64_T on LP64) reduce with the same kernel and match in a copy.
#pragma once

#include <cfloat>
#include <cstdint>

namespace ucd {

enum class Element : uint8_t {
    none, // bytes without a type, or elements of several representations
    byte,
    char8,
    wchar16,
    wchar32,
    bool8,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    bfloat16,
    float8_e4m3, // OFP8
    float8_e5m2,
    float32,
    float64,
    x87_80,    // 80-bit extended precision in 16 bytes
    binary128, // IEEE quadruple precision
    complex32, // two float32
    complex64, // two float64
    complex_x87_80,
    complex_binary128,
    float32_int32, // pairs, packed without padding
    float64_int32,
    int64_int32,
    int32_int32,
    int16_int32,
    x87_80_int32,
    binary128_int32,
    float32_float32,
    float64_float64,
    count_
};

// The representation of C's long double on this machine.
inline constexpr Element native_long_double = LDBL_MANT_DIG == 64    ? Element::x87_80
                                              : LDBL_MANT_DIG == 113 ? Element::binary128
                                                                     : Element::float64;

// The size of one element in the packed stream.
constexpr uint32_t packed_size(Element e) {
    switch (e) {
    case Element::byte:
    case Element::char8:
    case Element::bool8:
    case Element::int8:
    case Element::uint8:
    case Element::float8_e4m3:
    case Element::float8_e5m2: return 1;
    case Element::wchar16:
    case Element::int16:
    case Element::uint16:
    case Element::float16:
    case Element::bfloat16: return 2;
    case Element::wchar32:
    case Element::int32:
    case Element::uint32:
    case Element::float32: return 4;
    case Element::int16_int32: return 6;
    case Element::int64:
    case Element::uint64:
    case Element::float64:
    case Element::complex32:
    case Element::float32_int32:
    case Element::int32_int32:
    case Element::float32_float32: return 8;
    case Element::float64_int32:
    case Element::int64_int32: return 12;
    case Element::x87_80:
    case Element::binary128:
    case Element::complex64:
    case Element::float64_float64: return 16;
    case Element::x87_80_int32:
    case Element::binary128_int32: return 20;
    case Element::complex_x87_80:
    case Element::complex_binary128: return 32;
    case Element::none:
    case Element::count_: break;
    }
    return 0;
}

enum class Op : uint8_t {
    replace,
    max,
    min,
    sum,
    prod,
    land,
    lor,
    lxor,
    band,
    bor,
    bxor,
    maxloc,
    minloc,
    convert, // not a reduction: the destination's elements may be of other kinds than the source's
    convert_sat,
    count_
};

constexpr bool is_conversion(Op op) {
    return op == Op::convert || op == Op::convert_sat;
}
constexpr bool is_reduction(Op op) {
    return op != Op::replace && !is_conversion(op);
}

constexpr uint32_t op_bit(Op op) {
    return uint32_t{1} << static_cast<unsigned>(op);
}

// The representation of the real numbers that an element consists of; of complex numbers, that of
// their two parts. Element::none for elements that are not converted.
constexpr Element converted_part(Element e) {
    switch (e) {
    case Element::bool8:
    case Element::int8:
    case Element::int16:
    case Element::int32:
    case Element::int64:
    case Element::uint8:
    case Element::uint16:
    case Element::uint32:
    case Element::uint64:
    case Element::float16:
    case Element::bfloat16:
    case Element::float8_e4m3:
    case Element::float8_e5m2:
    case Element::float32:
    case Element::float64: return e;
    case Element::complex32: return Element::float32;
    case Element::complex64: return Element::float64;
    default: return Element::none;
    }
}

// Whether conversions between the two are defined: between real elements, and between complex
// ones.
constexpr bool is_convertible(Element from, Element to) {
    const bool known = converted_part(from) != Element::none && converted_part(to) != Element::none;
    // Only complex elements differ from their part.
    return known && (converted_part(from) == from) == (converted_part(to) == to);
}

constexpr bool is_integer(Element e) {
    return e >= Element::int8 && e <= Element::uint64;
}

// Whether a conversion between the two keeps all bits: between equal representations, and between
// integers of equal widths.
constexpr bool has_same_bits(Element from, Element to) {
    return from == to ||
           (is_integer(from) && is_integer(to) && packed_size(from) == packed_size(to));
}

// The set, in op_bit()s, of ops that the public interface defines for a representation; of
// conversions, whether it can be converted to float. x87 and binary128 have reductions only on
// machines that compute in them.
constexpr uint32_t defined_ops(Element e) {
    constexpr uint32_t bitwise = op_bit(Op::band) | op_bit(Op::bor) | op_bit(Op::bxor);
    constexpr uint32_t logical = op_bit(Op::land) | op_bit(Op::lor) | op_bit(Op::lxor);
    constexpr uint32_t sums = op_bit(Op::sum) | op_bit(Op::prod);
    constexpr uint32_t order = op_bit(Op::max) | op_bit(Op::min);
    constexpr uint32_t loc = op_bit(Op::maxloc) | op_bit(Op::minloc);
    constexpr uint32_t replace = op_bit(Op::replace);
    constexpr uint32_t converts = op_bit(Op::convert) | op_bit(Op::convert_sat);
    const auto native = [](Element extended) { return extended == native_long_double; };
    switch (e) {
    case Element::byte: return replace | bitwise;
    case Element::bool8: return replace | logical | converts;
    case Element::int8:
    case Element::int16:
    case Element::int32:
    case Element::int64:
    case Element::uint8:
    case Element::uint16:
    case Element::uint32:
    case Element::uint64: return replace | order | sums | logical | bitwise | converts;
    case Element::float16:
    case Element::bfloat16:
    case Element::float8_e4m3:
    case Element::float8_e5m2:
    case Element::float32:
    case Element::float64: return replace | order | sums | converts;
    case Element::complex32:
    case Element::complex64: return replace | sums;
    case Element::x87_80: return replace | (native(Element::x87_80) ? order | sums : 0);
    case Element::binary128: return replace | (native(Element::binary128) ? order | sums : 0);
    case Element::complex_x87_80: return replace | (native(Element::x87_80) ? sums : 0);
    case Element::complex_binary128: return replace | (native(Element::binary128) ? sums : 0);
    case Element::float32_int32:
    case Element::float64_int32:
    case Element::int64_int32:
    case Element::int32_int32:
    case Element::int16_int32:
    case Element::float32_float32:
    case Element::float64_float64: return replace | loc;
    case Element::x87_80_int32: return replace | (native(Element::x87_80) ? loc : 0);
    case Element::binary128_int32: return replace | (native(Element::binary128) ? loc : 0);
    case Element::none:
    case Element::char8:
    case Element::wchar16:
    case Element::wchar32:
    case Element::count_: break;
    }
    return replace;
}

// Beside the op_bit()s of a type: all its elements can be converted to elements of some kind.
inline constexpr uint32_t convertible_bit = uint32_t{1} << 31;
static_assert(static_cast<unsigned>(Op::count_) < 31);

// What the type of one element supports.
constexpr uint32_t supported_by(Element e) {
    return defined_ops(e) | (converted_part(e) != Element::none ? convertible_bit : 0);
}

} // namespace ucd
