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

// This is all that is known of a representation.
struct ElementInfo {
    Element element;
    uint32_t size; // of one element in the packed stream
    uint32_t ops;  // see defined_ops()
    Element part;  // see converted_part()
};

namespace element_table {

inline constexpr uint32_t bitwise = op_bit(Op::band) | op_bit(Op::bor) | op_bit(Op::bxor);
inline constexpr uint32_t logical = op_bit(Op::land) | op_bit(Op::lor) | op_bit(Op::lxor);
inline constexpr uint32_t sums = op_bit(Op::sum) | op_bit(Op::prod);
inline constexpr uint32_t arithmetic = op_bit(Op::max) | op_bit(Op::min) | sums;
inline constexpr uint32_t located = op_bit(Op::maxloc) | op_bit(Op::minloc);
inline constexpr uint32_t converts = op_bit(Op::convert) | op_bit(Op::convert_sat);
inline constexpr uint32_t floating = arithmetic | converts;
inline constexpr uint32_t integer = floating | logical | bitwise;

// The ops of an extended format, on machines that compute in it.
constexpr uint32_t of_native(Element extended, uint32_t ops) {
    return extended == native_long_double ? ops : 0;
}

// In the order of Element.
using enum Element;
inline constexpr ElementInfo all[] = {
    {none, 0, 0, none},
    {byte, 1, bitwise, none},
    {char8, 1, 0, none},
    {wchar16, 2, 0, none},
    {wchar32, 4, 0, none},
    {bool8, 1, logical | converts, bool8},
    {int8, 1, integer, int8},
    {int16, 2, integer, int16},
    {int32, 4, integer, int32},
    {int64, 8, integer, int64},
    {uint8, 1, integer, uint8},
    {uint16, 2, integer, uint16},
    {uint32, 4, integer, uint32},
    {uint64, 8, integer, uint64},
    {float16, 2, floating, float16},
    {bfloat16, 2, floating, bfloat16},
    {float8_e4m3, 1, floating, float8_e4m3},
    {float8_e5m2, 1, floating, float8_e5m2},
    {float32, 4, floating, float32},
    {float64, 8, floating, float64},
    {x87_80, 16, of_native(x87_80, arithmetic), none},
    {binary128, 16, of_native(binary128, arithmetic), none},
    {complex32, 8, sums, float32},
    {complex64, 16, sums, float64},
    {complex_x87_80, 32, of_native(x87_80, sums), none},
    {complex_binary128, 32, of_native(binary128, sums), none},
    {float32_int32, 8, located, none},
    {float64_int32, 12, located, none},
    {int64_int32, 12, located, none},
    {int32_int32, 8, located, none},
    {int16_int32, 6, located, none},
    {x87_80_int32, 20, of_native(x87_80, located), none},
    {binary128_int32, 20, of_native(binary128, located), none},
    {float32_float32, 8, located, none},
    {float64_float64, 16, located, none},
};

constexpr bool is_in_order() {
    unsigned next = 0;
    for (const ElementInfo &info : all)
        if (static_cast<unsigned>(info.element) != next++) return false;
    return next == static_cast<unsigned>(count_);
}
static_assert(is_in_order());

} // namespace element_table

constexpr const ElementInfo &element_info(Element e) {
    return element_table::all[static_cast<unsigned>(e)];
}

// The size of one element in the packed stream.
constexpr uint32_t packed_size(Element e) {
    return element_info(e).size;
}

// The representation of the real numbers that an element consists of; of complex numbers, that of
// their two parts. Element::none for elements that are not converted.
constexpr Element converted_part(Element e) {
    return element_info(e).part;
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
    return op_bit(Op::replace) | element_info(e).ops;
}

// Beside the op_bit()s of a type: all its elements can be converted to elements of some kind.
inline constexpr uint32_t convertible_bit = uint32_t{1} << 31;
static_assert(static_cast<unsigned>(Op::count_) < 31);

// A core may be built without reductions, and without conversions.
#if defined(UCD_NO_REDUCTIONS)
inline constexpr bool has_reductions = false;
#else
inline constexpr bool has_reductions = true;
#endif
#if defined(UCD_NO_CONVERSIONS)
inline constexpr bool has_conversions = false;
#else
inline constexpr bool has_conversions = true;
#endif

// What the type of one element supports.
constexpr uint32_t supported_by(Element e) {
    constexpr uint32_t conversions = element_table::converts | convertible_bit;
    const uint32_t all = defined_ops(e) | (converted_part(e) != Element::none ? convertible_bit : 0);
    return all & (op_bit(Op::replace) | (has_conversions ? conversions : 0) |
                  (has_reductions ? ~conversions : 0));
}

} // namespace ucd
