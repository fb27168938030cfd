// Nests known when compiling, as loops in each other.
#pragma once

#include "hand_copy.hpp"
#include "hand_loops.hpp"

namespace bench::hand {

// As many loops in each other as the nest has levels, all constants.
template <auto nest, To to, std::size_t level = 0>
[[gnu::always_inline]] inline void loops(char *__restrict laid_out, char *__restrict packed) {
    if constexpr (level == nest.depth)
        copy<to, nest.block>(laid_out, packed);
    else
        for (std::int64_t i = 0; i < nest.levels[level].count; ++i)
            loops<nest, to, level + 1>(laid_out + i * nest.levels[level].stride,
                                       packed + i * nest.bytes(level + 1));
}

template <auto nest, To to>
void move_nest(const Lists &, char *laid_out, char *packed) {
    loops<nest, to>(laid_out, packed);
}

template <auto nest>
std::span<const HandLoop> nest_loops() {
    static constexpr HandLoop ways[] = {
        {"loop", move_nest<nest, To::packed>, move_nest<nest, To::laid_out>},
    };
    return ways;
}

} // namespace bench::hand
