// Nests known when compiling, as loops in each other.
#pragma once

#include "baselines/cpu/copy.hpp"
#include "baselines/cpu/loops.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

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
inline constexpr HandMove nest_loop = {"loop", move_nest<nest, To::packed>,
                                       move_nest<nest, To::typed>};

// A table's line: a layout's name, and the ways to move it, as many as there are.
struct LayoutLoops {
    std::string_view layout;
    HandMove ways[4];
};

inline std::span<const HandMove> find_loops(std::span<const LayoutLoops> table,
                                            std::string_view layout) {
    for (const LayoutLoops &line : table)
        if (line.layout == layout) {
            const auto is_none = [](const HandMove &move) { return move.way == nullptr; };
            return {std::begin(line.ways),
                    std::find_if(std::begin(line.ways), std::end(line.ways), is_none)};
        }
    throw std::logic_error("no loop by hand for " + std::string(layout));
}

} // namespace bench::hand
