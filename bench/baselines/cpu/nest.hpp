// Nests known when compiling, as loops in each other.
#pragma once

#include "baselines/cpu/copy.hpp"
#include "baselines/cpu/loops.hpp"

namespace bench::hand {

// As many loops in each other as the nest has levels, all constants.
template <auto nest, To to, std::size_t level = 0>
[[gnu::always_inline]] inline void loops(char *__restrict typed, char *__restrict packed) {
    if constexpr (level == nest.depth)
        copy<to, nest.block>(typed, packed);
    else
        for (std::int64_t i = 0; i < nest.levels[level].count; ++i)
            loops<nest, to, level + 1>(typed + i * nest.levels[level].stride,
                                       packed + i * nest.bytes(level + 1));
}

template <auto nest, To to>
void move_nest(const Lists &, char *typed, char *packed) {
    loops<nest, to>(typed, packed);
}

template <auto nest>
std::span<const HandMove> nest_loops() {
    static constexpr HandMove ways[] = {
        {"loop", move_nest<nest, To::packed>, move_nest<nest, To::typed>},
    };
    return ways;
}

} // namespace bench::hand
