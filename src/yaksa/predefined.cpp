#include "predefined.h"

#include <cstddef>
#include <ucd-yaksa/yaksa.h>

namespace ucd_yaksa {
namespace {

using float_complex = __complex__ float;
using double_complex = __complex__ double;
using long_double_complex = __complex__ long double;

template <class C>
constexpr std::uint8_t alignment = alignof(C);

template <class C>
constexpr std::uint64_t integer_identity() {
    static_assert(sizeof(C) == 1 || sizeof(C) == 2 || sizeof(C) == 4 || sizeof(C) == 8);
    switch (sizeof(C)) {
    case 1: return YAKSA_TYPE__INT8_T;
    case 2: return YAKSA_TYPE__INT16_T;
    case 4: return YAKSA_TYPE__INT32_T;
    default: return YAKSA_TYPE__INT64_T;
    }
}

template <class C>
Predefined one(ucd_type_t type, std::uint64_t identity) {
    return {type, static_cast<std::uint8_t>(identity), alignment<C>, {}};
}

template <class C>
Predefined integer(ucd_type_t type) {
    return one<C>(type, integer_identity<C>());
}

template <class A, class B>
Predefined pair(ucd_type_t type, std::uint64_t identity, ucd_type_t first, ucd_type_t second) {
    const std::uint8_t larger = alignment<A> > alignment<B> ? alignment<A> : alignment<B>;
    return {type, static_cast<std::uint8_t>(identity), larger, {first, second}};
}

} // namespace

// In yaksa BYTE is an unsigned integer, so arithmetic on it is that of UINT8_T.
const std::array<Predefined, predefined_count> predefined_types = {{
    {UCD_TYPE__NULL, YAKSA_TYPE__NULL, 1, {}},
    one<bool>(UCD_TYPE___BOOL, YAKSA_TYPE___BOOL),
    one<char>(UCD_TYPE__CHAR, YAKSA_TYPE__CHAR),
    one<char>(UCD_TYPE__SIGNED_CHAR, YAKSA_TYPE__CHAR),
    one<char>(UCD_TYPE__UNSIGNED_CHAR, YAKSA_TYPE__CHAR),
    one<wchar_t>(UCD_TYPE__WCHAR_T, YAKSA_TYPE__WCHAR_T),
    integer<std::int8_t>(UCD_TYPE__INT8_T),
    integer<std::int16_t>(UCD_TYPE__INT16_T),
    integer<std::int32_t>(UCD_TYPE__INT32_T),
    integer<std::int64_t>(UCD_TYPE__INT64_T),
    integer<std::uint8_t>(UCD_TYPE__UINT8_T),
    integer<std::uint16_t>(UCD_TYPE__UINT16_T),
    integer<std::uint32_t>(UCD_TYPE__UINT32_T),
    integer<std::uint64_t>(UCD_TYPE__UINT64_T),
    integer<int>(UCD_TYPE__INT),
    integer<unsigned>(UCD_TYPE__UNSIGNED),
    integer<short>(UCD_TYPE__SHORT),
    integer<unsigned short>(UCD_TYPE__UNSIGNED_SHORT),
    integer<long>(UCD_TYPE__LONG),
    integer<unsigned long>(UCD_TYPE__UNSIGNED_LONG),
    integer<long long>(UCD_TYPE__LONG_LONG),
    integer<unsigned long long>(UCD_TYPE__UNSIGNED_LONG_LONG),
    integer<std::int_fast8_t>(UCD_TYPE__INT_FAST8_T),
    integer<std::int_fast16_t>(UCD_TYPE__INT_FAST16_T),
    integer<std::int_fast32_t>(UCD_TYPE__INT_FAST32_T),
    integer<std::int_fast64_t>(UCD_TYPE__INT_FAST64_T),
    integer<std::uint_fast8_t>(UCD_TYPE__UINT_FAST8_T),
    integer<std::uint_fast16_t>(UCD_TYPE__UINT_FAST16_T),
    integer<std::uint_fast32_t>(UCD_TYPE__UINT_FAST32_T),
    integer<std::uint_fast64_t>(UCD_TYPE__UINT_FAST64_T),
    integer<std::int_least8_t>(UCD_TYPE__INT_LEAST8_T),
    integer<std::int_least16_t>(UCD_TYPE__INT_LEAST16_T),
    integer<std::int_least32_t>(UCD_TYPE__INT_LEAST32_T),
    integer<std::int_least64_t>(UCD_TYPE__INT_LEAST64_T),
    integer<std::uint_least8_t>(UCD_TYPE__UINT_LEAST8_T),
    integer<std::uint_least16_t>(UCD_TYPE__UINT_LEAST16_T),
    integer<std::uint_least32_t>(UCD_TYPE__UINT_LEAST32_T),
    integer<std::uint_least64_t>(UCD_TYPE__UINT_LEAST64_T),
    integer<std::uint8_t>(UCD_TYPE__UINT8_T), // BYTE
    integer<std::intmax_t>(UCD_TYPE__INTMAX_T),
    integer<std::uintmax_t>(UCD_TYPE__UINTMAX_T),
    integer<std::size_t>(UCD_TYPE__SIZE_T),
    integer<std::intptr_t>(UCD_TYPE__INTPTR_T),
    integer<std::uintptr_t>(UCD_TYPE__UINTPTR_T),
    integer<std::ptrdiff_t>(UCD_TYPE__PTRDIFF_T),
    one<float>(UCD_TYPE__FLOAT, YAKSA_TYPE__FLOAT),
    one<double>(UCD_TYPE__DOUBLE, YAKSA_TYPE__DOUBLE),
    one<long double>(UCD_TYPE__LONG_DOUBLE, YAKSA_TYPE__LONG_DOUBLE),
    one<float_complex>(UCD_TYPE__C_COMPLEX, YAKSA_TYPE__C_COMPLEX),
    one<double_complex>(UCD_TYPE__C_DOUBLE_COMPLEX, YAKSA_TYPE__C_DOUBLE_COMPLEX),
    one<long_double_complex>(UCD_TYPE__C_LONG_DOUBLE_COMPLEX, YAKSA_TYPE__C_LONG_DOUBLE_COMPLEX),
    pair<float, int>(UCD_TYPE__FLOAT_INT, YAKSA_TYPE__FLOAT_INT, UCD_TYPE__FLOAT, UCD_TYPE__INT),
    pair<double, int>(UCD_TYPE__DOUBLE_INT, YAKSA_TYPE__DOUBLE_INT, UCD_TYPE__DOUBLE,
                      UCD_TYPE__INT),
    pair<long, int>(UCD_TYPE__LONG_INT, YAKSA_TYPE__LONG_INT, UCD_TYPE__LONG, UCD_TYPE__INT),
    pair<int, int>(UCD_TYPE__2INT, YAKSA_TYPE__2INT, UCD_TYPE__INT, UCD_TYPE__INT),
    pair<short, int>(UCD_TYPE__SHORT_INT, YAKSA_TYPE__SHORT_INT, UCD_TYPE__SHORT, UCD_TYPE__INT),
    pair<long double, int>(UCD_TYPE__LONG_DOUBLE_INT, YAKSA_TYPE__LONG_DOUBLE_INT,
                           UCD_TYPE__LONG_DOUBLE, UCD_TYPE__INT),
}};

} // namespace ucd_yaksa
