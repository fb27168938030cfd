// Part of the host core of UCD @version@, which tools/make-core of UCD writes. Changes belong there.
// SPDX-License-Identifier: BSD-3-Clause
#if !defined(UCD_CORE_SETTINGS)
#define UCD_CORE_SETTINGS

// README.md says what leaves out parts: UCD_NO_AVX2, UCD_NO_AVX512, UCD_NO_CONVERSIONS,
// UCD_NO_PLUGINS, UCD_NO_REDUCTIONS.

#if __cplusplus < 202002L
#error "UCD needs C++20: compile its files with -std=c++20 or later"
#endif
#if !defined(__cpp_exceptions)
#error "UCD needs exceptions, which none of its functions lets out: compile its files without -fno-exceptions"
#endif
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) ||      \
    defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "UCD computes as IEEE 754 says: compile its files without -ffast-math, or a part of it"
#endif

#define UCD_COPY_KIND "core"

// With a prefix, the names of C++ have it, too: two cores may become parts of one file.
#if defined(UCD_PREFIX)
#include <ucd_prefix.h>
#define ucd UCD_PREFIXED(UCD_PREFIX, ucd)
#define ucd_base UCD_PREFIXED(UCD_PREFIX, ucd_base)
#define ucd_yaksa UCD_PREFIXED(UCD_PREFIX, ucd_yaksa)
#endif

// Results have the same bits with all compilers and for all processors: no multiplication is fused
// with an addition.
#if defined(__clang__)
#pragma clang fp contract(off)
#else
#pragma GCC optimize("fp-contract=off")
#endif

#endif
