// Converts arrays of elements; included in the generated kernels.
#pragma once

#include "instructions.h"

#include "convert.h"

#include <cstdint>

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {
namespace {

// How an element is stored: as an integer of its width, or as it is.
template <class T>
struct Stored {
    using Type = T;
    static T load(Type value) { return value; }
    static Type store(T value) { return value; }
};
template <class T, class Bits>
struct StoredBits {
    using Type = Bits;
    [[gnu::always_inline]] static T load(Type bits) { return T{bits}; }
    [[gnu::always_inline]] static Type store(T value) { return value.bits; }
};
template <>
struct Stored<Float16> : StoredBits<Float16, uint16_t> {};
template <>
struct Stored<BFloat16> : StoredBits<BFloat16, uint16_t> {};
template <>
struct Stored<Float8E4M3> : StoredBits<Float8E4M3, uint8_t> {};
template <>
struct Stored<Float8E5M2> : StoredBits<Float8E5M2, uint8_t> {};
template <>
struct Stored<Bool8> : StoredBits<Bool8, uint8_t> {};

// Elements may be at any address and inside objects of any type.
template <class T>
struct AnywhereType {
    typedef typename Stored<T>::Type type __attribute__((aligned(1), may_alias));
};
template <class T>
using Anywhere = typename AnywhereType<T>::type;

// A fixed number of elements, so that compilers need no code for what is left of a loop.
inline constexpr uint64_t block_elements = 64;

template <class To, class From>
[[gnu::always_inline]] inline void convert_block(Anywhere<To> *__restrict out,
                                                 const Anywhere<From> *__restrict in,
                                                 typename Format<To>::Bits limit) {
    for (uint64_t i = 0; i < block_elements; ++i)
        out[i] = Stored<To>::store(convert<To>(Stored<From>::load(in[i]), limit));
}

#if defined(UCD_SEQ_HAS_F16C) && defined(UCD_SEQ_HAS_AVX2)
// The instruction keeps the bits of NaNs, which become the quiet one here as by convert().
template <>
[[gnu::always_inline]] inline void
convert_block<Float16, float>(Anywhere<Float16> *__restrict out,
                              const Anywhere<float> *__restrict in, uint16_t limit) {
    const __m256i sign = _mm256_set1_epi16(INT16_MIN), infinity = _mm256_set1_epi16(0x7c00);
    const __m256i nan = _mm256_set1_epi16(Format<Float16>::quiet_nan);
    const __m256i largest = _mm256_set1_epi16(static_cast<int16_t>(limit));
    for (uint64_t i = 0; i < block_elements; i += 16) {
        const __m128i first = _mm256_cvtps_ph(_mm256_loadu_ps(&in[i]), _MM_FROUND_TO_NEAREST_INT);
        const __m128i second =
            _mm256_cvtps_ph(_mm256_loadu_ps(&in[i + 8]), _MM_FROUND_TO_NEAREST_INT);
        const __m256i all = _mm256_set_m128i(second, first);
        const __m256i magnitude = _mm256_andnot_si256(sign, all);
        const __m256i is_nan = _mm256_cmpgt_epi16(magnitude, infinity);
        const __m256i finite = _mm256_min_epi16(magnitude, largest);
        const __m256i result = _mm256_blendv_epi8(finite, nan, is_nan);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(&out[i]),
                            _mm256_or_si256(result, _mm256_and_si256(all, sign)));
    }
}
#endif

// The last elements are converted in a buffer of a whole block.
template <class To, class From>
[[gnu::always_inline]] inline void convert_all(void *out_bytes, const void *in_bytes,
                                               uint64_t count, bool saturate) {
    auto *out = static_cast<Anywhere<To> *>(out_bytes);
    const auto *in = static_cast<const Anywhere<From> *>(in_bytes);
    const auto limit = limit_of<To>(saturate);
    alignas(64) Anywhere<From> last_in[block_elements];
    alignas(64) Anywhere<To> last_out[block_elements];
    while (count > 0) {
        const bool whole = count >= block_elements;
        const uint64_t converted = whole ? block_elements : count;
        if (!whole) {
            __builtin_memset(last_in, 0, sizeof last_in);
            __builtin_memcpy(last_in, in, count * sizeof *in);
        }
        convert_block<To, From>(whole ? out : last_out, whole ? in : last_in, limit);
        if (!whole) __builtin_memcpy(out, last_out, count * sizeof *out);
        in += converted;
        out += converted;
        count -= converted;
    }
}

} // namespace
} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
