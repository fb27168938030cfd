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
