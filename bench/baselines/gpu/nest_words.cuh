// Where the words of nests are that are known at compile time.
#pragma once

#include "baselines/gpu/kernels.hpp"

#include "vendor.hpp"

#include <utility>

namespace bench::gpu::hand {

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
    using type = uint4;
};
template <unsigned width>
using Word = typename WordOf<width>::type;

// Nests, with all their numbers as constants: those of Shape::nest.
template <unsigned width, class Shape, std::size_t level>
inline constexpr auto words_below = static_cast<std::uint32_t>(Shape::nest.bytes(level + 1) /
                                                               width);
template <class Shape, std::size_t level>
inline constexpr std::int64_t stride_of = Shape::nest.levels[level].stride;

template <unsigned width, class Shape>
struct InNest {
    static __device__ std::int64_t of(std::uint32_t word, const std::int32_t *) {
        return place(word, std::make_index_sequence<Shape::nest.depth>());
    }

private:
    template <std::size_t... level>
    static __device__ std::int64_t place(std::uint32_t word, std::index_sequence<level...>) {
        std::int64_t at = 0;
        (descend<level>(word, at), ...);
        return at + word * width;
    }
    template <std::size_t level>
    static __device__ void descend(std::uint32_t &word, std::int64_t &at) {
        constexpr std::uint32_t each = words_below<width, Shape, level>;
        constexpr std::int64_t stride = stride_of<Shape, level>;
        at += word / each * stride;
        word %= each;
    }
};

} // namespace bench::gpu::hand
