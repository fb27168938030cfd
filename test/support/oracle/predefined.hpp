// What the tests know of the predefined types, from the C compiler and api.md alone.
#pragma once

#include <ucd.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ucdtest {

// The C representations that have no C++ type of their own in every supported compiler.
struct Half {
    std::uint16_t bits;
};
struct BFloat {
    std::uint16_t bits;
};
struct E4M3 {
    std::uint8_t bits;
};
struct E5M2 {
    std::uint8_t bits;
};
template <class T>
struct Complex {
    T re, im;
};
template <class V, class I>
struct Pair {
    V value;
    I index;
};

// Which reductions a type takes (api.md, "Ops").
enum class TypeClass { boolean, character, byte, integer, floating, complex, pair };

// UCD_TEST_PREDEFINED(X): X(name after UCD_TYPE__, class, C++ representation), in the ABI's order.
// The representations contain commas, hence the aliases.
using FloatInt = Pair<float, int>;
using DoubleInt = Pair<double, int>;
using LongInt = Pair<long, int>;
using TwoInt = Pair<int, int>;
using ShortInt = Pair<short, int>;
using LongDoubleInt = Pair<long double, int>;
using TwoFloat = Pair<float, float>;
using TwoDouble = Pair<double, double>;

// clang-format off
#define UCD_TEST_PREDEFINED(X)                                                                     \
    X(_BOOL, boolean, bool)                                                                        \
    X(CHAR, character, char)                                                                       \
    X(SIGNED_CHAR, integer, signed char)                                                           \
    X(UNSIGNED_CHAR, integer, unsigned char)                                                       \
    X(WCHAR_T, character, wchar_t)                                                                 \
    X(BYTE, byte, std::uint8_t)                                                                    \
    X(SHORT, integer, short)                                                                       \
    X(UNSIGNED_SHORT, integer, unsigned short)                                                     \
    X(INT, integer, int)                                                                           \
    X(UNSIGNED, integer, unsigned)                                                                 \
    X(LONG, integer, long)                                                                         \
    X(UNSIGNED_LONG, integer, unsigned long)                                                       \
    X(LONG_LONG, integer, long long)                                                               \
    X(UNSIGNED_LONG_LONG, integer, unsigned long long)                                             \
    X(INT8_T, integer, std::int8_t)                                                                \
    X(INT16_T, integer, std::int16_t)                                                              \
    X(INT32_T, integer, std::int32_t)                                                              \
    X(INT64_T, integer, std::int64_t)                                                              \
    X(UINT8_T, integer, std::uint8_t)                                                              \
    X(UINT16_T, integer, std::uint16_t)                                                            \
    X(UINT32_T, integer, std::uint32_t)                                                            \
    X(UINT64_T, integer, std::uint64_t)                                                            \
    X(INT_FAST8_T, integer, std::int_fast8_t)                                                      \
    X(INT_FAST16_T, integer, std::int_fast16_t)                                                    \
    X(INT_FAST32_T, integer, std::int_fast32_t)                                                    \
    X(INT_FAST64_T, integer, std::int_fast64_t)                                                    \
    X(UINT_FAST8_T, integer, std::uint_fast8_t)                                                    \
    X(UINT_FAST16_T, integer, std::uint_fast16_t)                                                  \
    X(UINT_FAST32_T, integer, std::uint_fast32_t)                                                  \
    X(UINT_FAST64_T, integer, std::uint_fast64_t)                                                  \
    X(INT_LEAST8_T, integer, std::int_least8_t)                                                    \
    X(INT_LEAST16_T, integer, std::int_least16_t)                                                  \
    X(INT_LEAST32_T, integer, std::int_least32_t)                                                  \
    X(INT_LEAST64_T, integer, std::int_least64_t)                                                  \
    X(UINT_LEAST8_T, integer, std::uint_least8_t)                                                  \
    X(UINT_LEAST16_T, integer, std::uint_least16_t)                                                \
    X(UINT_LEAST32_T, integer, std::uint_least32_t)                                                \
    X(UINT_LEAST64_T, integer, std::uint_least64_t)                                                \
    X(INTMAX_T, integer, std::intmax_t)                                                            \
    X(UINTMAX_T, integer, std::uintmax_t)                                                          \
    X(SIZE_T, integer, std::size_t)                                                                \
    X(INTPTR_T, integer, std::intptr_t)                                                            \
    X(UINTPTR_T, integer, std::uintptr_t)                                                          \
    X(PTRDIFF_T, integer, std::ptrdiff_t)                                                          \
    X(FLOAT16, floating, Half)                                                                     \
    X(BFLOAT16, floating, BFloat)                                                                  \
    X(FLOAT, floating, float)                                                                      \
    X(DOUBLE, floating, double)                                                                    \
    X(LONG_DOUBLE, floating, long double)                                                          \
    X(C_COMPLEX, complex, Complex<float>)                                                          \
    X(C_DOUBLE_COMPLEX, complex, Complex<double>)                                                  \
    X(C_LONG_DOUBLE_COMPLEX, complex, Complex<long double>)                                        \
    X(FLOAT_INT, pair, FloatInt)                                                                   \
    X(DOUBLE_INT, pair, DoubleInt)                                                                 \
    X(LONG_INT, pair, LongInt)                                                                     \
    X(2INT, pair, TwoInt)                                                                          \
    X(SHORT_INT, pair, ShortInt)                                                                   \
    X(LONG_DOUBLE_INT, pair, LongDoubleInt)                                                        \
    X(2FLOAT, pair, TwoFloat)                                                                      \
    X(2DOUBLE, pair, TwoDouble)                                                                    \
    X(FLOAT8_E4M3, floating, E4M3)                                                                 \
    X(FLOAT8_E5M2, floating, E5M2)
// clang-format on

// A run of bytes that belong to the element; padding between and after the pieces does not.
struct Piece {
    std::intptr_t displ;
    std::size_t bytes;
};

struct Predefined {
    ucd_type_t handle;
    const char *name; // without UCD_TYPE__
    TypeClass type_class;
    std::size_t extent, align, size; // size: packed, so without the padding of a pair's struct
    Piece pieces[2];
    std::size_t piece_count;
    // Where in the packed element bytes hold no value (x87's 6 spare bytes): a reduction may leave
    // anything there. Runs of (offset in the packed element, length).
    Piece spare[2];
    std::size_t spare_count;

    std::intptr_t true_end() const {
        const Piece &last = pieces[piece_count - 1];
        return last.displ + static_cast<std::intptr_t>(last.bytes);
    }
};

std::span<const Predefined> all_predefined();
// The handle must be a predefined one.
const Predefined &predefined(ucd_type_t handle);
bool is_predefined(ucd_type_t handle);

} // namespace ucdtest
