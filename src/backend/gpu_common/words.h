// How kernels touch memory: words of 1 to 16 bytes on the laid-out side, vectors of 16 on the packed
// one.
#pragma once

#include "vendor.h"

#include <cstdint>

namespace ucd::UCD_GPU {

inline constexpr unsigned threads_per_block = 256;
inline constexpr unsigned vector_bytes = 16;

template <unsigned width>
struct WordOf;
template <>
struct WordOf<1> {
    using type = uint8_t;
};
template <>
struct WordOf<2> {
    using type = uint16_t;
};
template <>
struct WordOf<4> {
    using type = uint32_t;
};
template <>
struct WordOf<8> {
    using type = uint64_t;
};
template <>
struct WordOf<16> {
    using type = Quad;
};
template <unsigned width>
using Word = typename WordOf<width>::type;

// 16 bytes of the packed stream as words. Indexed by constants only, so that it stays in registers.
template <unsigned width>
union Vector {
    static constexpr unsigned words = vector_bytes / width;
    Quad whole;
    Word<width> word[words];
};

} // namespace ucd::UCD_GPU
