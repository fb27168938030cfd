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

template <class To, class From>
[[gnu::always_inline]] inline void convert_all(void *out_bytes, const void *in_bytes,
                                               uint64_t count, bool saturate) {
    auto *__restrict const out = static_cast<Anywhere<To> *>(out_bytes);
    const auto *__restrict const in = static_cast<const Anywhere<From> *>(in_bytes);
    const auto limit = limit_of<To>(saturate);
    for (uint64_t i = 0; i < count; ++i)
        out[i] = Stored<To>::store(convert<To>(Stored<From>::load(in[i]), limit));
}

} // namespace
} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
