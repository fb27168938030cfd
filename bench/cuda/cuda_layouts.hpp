// The layouts that are measured on a device.
#pragma once

#include "hand_kernels.hpp"
#include "recipe.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench::gpu {

struct Layout {
    std::string name;
    RecipePtr type;
    std::span<const HandKernel> hand;
    std::vector<std::int32_t> list = {}; // what the hand kernels need to know besides
    std::optional<Nest<2>> box = {};     // what one 2-D or 3-D copy of CUDA's moves
};

std::vector<Layout> layouts();
Layout small_layout(); // 1 KiB

} // namespace bench::gpu
