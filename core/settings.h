// Part of the host core of UCD @version@, which tools/make-core of UCD writes. Changes belong there.
// SPDX-License-Identifier: BSD-3-Clause
#if !defined(UCD_CORE_SETTINGS)
#define UCD_CORE_SETTINGS

#if __cplusplus < 202002L
#error "UCD needs C++20: compile its files with -std=c++20 or later"
#endif
#if !defined(__cpp_exceptions)
#error "UCD needs exceptions, which none of its functions lets out: compile its files without -fno-exceptions"
#endif
#if defined(__FAST_MATH__)
#error "UCD rounds as IEEE 754 says: compile its files without -ffast-math"
#endif
#if !defined(__OPTIMIZE__) && !defined(UCD_UNOPTIMISED)
#warning "UCD is compiled without optimisation, and is slow: -O2, or -DUCD_UNOPTIMISED if that is intended"
#endif

#define UCD_COPY_KIND "core"

// Results have the same bits with all compilers and for all processors: no multiplication is fused
// with an addition.
#if defined(__clang__)
#pragma clang fp contract(off)
#else
#pragma GCC optimize("fp-contract=off")
#if defined(__OPTIMIZE__)
#pragma GCC optimize("@level@")
#endif
#endif

#endif
