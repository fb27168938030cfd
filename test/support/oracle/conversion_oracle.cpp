#include "support/oracle/conversion_oracle.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace ucdtest {
namespace {

// A kind of number: integers have no exponent.
struct NumberFormat {
    enum Kind { boolean, integer, floating } kind;
    int bits;          // of one number
    bool is_signed;    // for integers
    int exponent_bits; // for floating formats
    bool has_infinity;

    int fraction_bits() const { return bits - 1 - exponent_bits; }
    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    std::uint64_t exponent_mask() const { return (std::uint64_t{1} << exponent_bits) - 1; }
    std::uint64_t sign() const { return std::uint64_t{1} << (bits - 1); }
    // The magnitude of infinity; without one, of the NaN.
    std::uint64_t beyond() const {
        return has_infinity ? exponent_mask() << fraction_bits() : sign() - 1;
    }
    std::uint64_t nan() const {
        return has_infinity ? beyond() | std::uint64_t{1} << (fraction_bits() - 1) : beyond();
    }
};

NumberFormat format_of(const Predefined &type) {
    const int parts = type.type_class == TypeClass::complex ? 2 : 1;
    const int bits = static_cast<int>(8 * type.size) / parts;
    if (type.type_class == TypeClass::boolean)
        return {NumberFormat::boolean, bits, false, 0, false};
    if (type.type_class == TypeClass::integer) {
        const std::string_view name = type.name;
        const bool is_unsigned = name.starts_with("U") || name == "SIZE_T";
        return {NumberFormat::integer, bits, !is_unsigned, 0, false};
    }
    const ucd_type_t handle = type.handle;
    const int exponent_bits = handle == UCD_TYPE__FLOAT16       ? 5
                              : handle == UCD_TYPE__BFLOAT16    ? 8
                              : handle == UCD_TYPE__FLOAT8_E4M3 ? 4
                              : handle == UCD_TYPE__FLOAT8_E5M2 ? 5
                              : bits == 32                      ? 8
                                                                : 11;
    return {NumberFormat::floating, bits, true, exponent_bits, handle != UCD_TYPE__FLOAT8_E4M3};
}

// magnitude * 2^exponent
struct Number {
    bool negative = false, nan = false, infinite = false;
    std::uint64_t magnitude = 0;
    int exponent = 0;
};

Number decoded(const NumberFormat &format, std::uint64_t bits) {
    Number number;
    if (format.kind == NumberFormat::boolean) {
        number.magnitude = bits != 0;
        return number;
    }
    if (format.kind == NumberFormat::integer) {
        number.negative = format.is_signed && (bits & format.sign()) != 0;
        const std::uint64_t mask = format.sign() | (format.sign() - 1);
        number.magnitude = number.negative ? (~bits + 1) & mask : bits;
        return number;
    }
    number.negative = (bits & format.sign()) != 0;
    const std::uint64_t magnitude = bits & (format.sign() - 1);
    number.nan = format.has_infinity ? magnitude > format.beyond() : magnitude == format.beyond();
    number.infinite = format.has_infinity && magnitude == format.beyond();
    const auto exponent = static_cast<int>(magnitude >> format.fraction_bits());
    const std::uint64_t fraction = magnitude & ((std::uint64_t{1} << format.fraction_bits()) - 1);
    number.magnitude =
        exponent == 0 ? fraction : fraction | std::uint64_t{1} << format.fraction_bits();
    number.exponent = std::max(exponent, 1) - format.bias() - format.fraction_bits();
    return number;
}

std::uint64_t as_floating(const NumberFormat &format, const Number &number, bool saturate) {
    const std::uint64_t sign = number.negative ? format.sign() : 0;
    const std::uint64_t too_large = saturate ? format.beyond() - 1 : format.beyond();
    if (number.nan) return sign | format.nan();
    if (number.infinite) return sign | too_large;
    if (number.magnitude == 0) return sign;
    const int highest = 63 - __builtin_clzll(number.magnitude);
    // The exponent of the last bit that the format keeps.
    const int lowest = 1 - format.bias() - format.fraction_bits();
    const int last = std::max(number.exponent + highest - format.fraction_bits(), lowest);
    const int dropped = last - number.exponent;
    std::uint64_t kept;
    if (dropped <= 0) {
        kept = number.magnitude << -dropped;
    } else if (dropped > 64) {
        kept = 0; // less than half of the smallest number
    } else {
        __extension__ using Wide = unsigned __int128;
        const Wide all = number.magnitude, half = Wide{1} << (dropped - 1);
        const Wide rest = all & ((Wide{1} << dropped) - 1);
        kept = static_cast<std::uint64_t>(all >> dropped);
        if (rest > half || (rest == half && kept % 2 == 1)) ++kept;
    }
    // An overflow of the fraction carries into the exponent.
    const auto steps = static_cast<std::uint64_t>(last - lowest);
    const bool exceeds = steps > format.exponent_mask() ||
                         kept + (steps << format.fraction_bits()) >= format.beyond();
    return sign | (exceeds ? too_large : kept + (steps << format.fraction_bits()));
}

std::uint64_t as_integer(const NumberFormat &format, const Number &number, bool from_integer) {
    const std::uint64_t mask = format.sign() | (format.sign() - 1);
    if (from_integer) return (number.negative ? ~number.magnitude + 1 : number.magnitude) & mask;
    const std::uint64_t lowest = format.is_signed ? format.sign() : 0;
    const std::uint64_t highest = format.is_signed ? format.sign() - 1 : mask;
    if (number.nan) return 0;
    const std::uint64_t limit = number.negative ? lowest : highest;
    if (number.infinite) return limit;
    if (number.magnitude == 0) return 0;
    const int bits = 64 - __builtin_clzll(number.magnitude) + number.exponent;
    if (bits > 64) return limit;
    const std::uint64_t whole = bits <= 0              ? 0
                                : number.exponent >= 0 ? number.magnitude << number.exponent
                                                       : number.magnitude >> -number.exponent;
    // The magnitude of the lowest integer is its own bit pattern.
    if (whole > limit) return limit;
    return (number.negative ? ~whole + 1 : whole) & mask;
}

std::uint64_t converted(const NumberFormat &from, std::uint64_t bits, const NumberFormat &to,
                        bool saturate) {
    const bool same = from.kind == to.kind && from.bits == to.bits &&
                      from.exponent_bits == to.exponent_bits && from.is_signed == to.is_signed;
    if (same) return bits;
    const Number number = decoded(from, bits);
    if (to.kind == NumberFormat::floating) return as_floating(to, number, saturate);
    if (to.kind == NumberFormat::boolean)
        return number.nan || number.infinite || number.magnitude != 0;
    return as_integer(to, number, from.kind != NumberFormat::floating);
}

const std::array real_types{UCD_TYPE__INT8_T,      UCD_TYPE__INT16_T,      UCD_TYPE__INT32_T,
                            UCD_TYPE__INT64_T,     UCD_TYPE__UINT8_T,      UCD_TYPE__UINT16_T,
                            UCD_TYPE__UINT32_T,    UCD_TYPE__UINT64_T,     UCD_TYPE__FLOAT16,
                            UCD_TYPE__BFLOAT16,    UCD_TYPE__FLOAT,        UCD_TYPE__DOUBLE,
                            UCD_TYPE__FLOAT8_E4M3, UCD_TYPE__FLOAT8_E5M2,  UCD_TYPE___BOOL,
                            UCD_TYPE__INT,         UCD_TYPE__UNSIGNED_LONG};
const std::array complex_types{UCD_TYPE__C_COMPLEX, UCD_TYPE__C_DOUBLE_COMPLEX};

} // namespace

std::span<const ucd_type_t> converted_types(bool complex) {
    if (complex) return complex_types;
    return real_types;
}

bool is_converted(const Predefined &from, const Predefined &to) {
    const auto is_real = [](const Predefined &type) {
        return type.type_class == TypeClass::integer || type.type_class == TypeClass::boolean ||
               (type.type_class == TypeClass::floating && type.handle != UCD_TYPE__LONG_DOUBLE);
    };
    const auto is_complex = [](const Predefined &type) {
        return type.type_class == TypeClass::complex &&
               type.handle != UCD_TYPE__C_LONG_DOUBLE_COMPLEX;
    };
    return (is_real(from) && is_real(to)) || (is_complex(from) && is_complex(to));
}

void convert_element(const Predefined &from, const void *in, const Predefined &to, void *out,
                     bool saturate) {
    if (!is_converted(from, to)) throw std::logic_error("conversion that is not defined");
    const NumberFormat source = format_of(from), target = format_of(to);
    const std::size_t parts = from.type_class == TypeClass::complex ? 2 : 1;
    const std::size_t in_bytes = from.size / parts, out_bytes = to.size / parts;
    for (std::size_t i = 0; i < parts; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, static_cast<const char *>(in) + i * in_bytes, in_bytes);
        const std::uint64_t result = converted(source, bits, target, saturate);
        std::memcpy(static_cast<char *>(out) + i * out_bytes, &result, out_bytes);
    }
}

} // namespace ucdtest
