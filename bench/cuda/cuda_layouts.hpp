// The layouts that are measured on a device.
#pragma once

#include "hand_kernels.hpp"
#include "recipe.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench::gpu {

struct Layout {
    std::string name;
    RecipePtr type;
    std::span<const HandKernel> hand;
    std::vector<std::int32_t> list = {}; // what the hand kernels need to know besides
    std::optional<Nest<2>> box = {};     // what one 2-D or 3-D copy of CUDA's moves
    Level boxes = {1, 0};                // how many such copies, and how far apart
};

RecipePtr nest_type(std::int64_t block, std::span<const Level> levels);

template <std::size_t depth>
Layout nest_layout(std::string name, const Nest<depth> &nest, std::span<const HandKernel> hand) {
    Layout layout{
        .name = std::move(name), .type = nest_type(nest.block, nest.levels), .hand = hand};
    // A copy with rows of the innermost level; the level above it, if any, is the third dimension.
    if constexpr (depth == 1) layout.box = Nest<2>{nest.block, {{1, 0}, nest.levels[0]}};
    if constexpr (depth == 2) layout.box = nest;
    // Planes of a copy are whole rows apart.
    if constexpr (depth == 3)
        if (nest.levels[1].stride % nest.levels[2].stride == 0) {
            layout.box = Nest<2>{nest.block, {nest.levels[1], nest.levels[2]}};
            layout.boxes = nest.levels[0];
        }
    return layout;
}

std::vector<Layout> layouts();
Layout small_layout();  // 1 KiB
Layout listed_blocks(); // what copy engines take as a list

} // namespace bench::gpu
