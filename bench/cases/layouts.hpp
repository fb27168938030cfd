// The layouts that are measured: name, description, and what is written for them by hand.
#pragma once

#include "baselines/cpu/loops.hpp"
#include "baselines/hand.hpp"
#include "harness/device.hpp"
#include "shapes/recipe.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct ListData {
    std::vector<std::int32_t> displs, lengths;
    Lists view() const { return {displs.data(), lengths.data(), displs.size()}; }
};

struct Layout {
    std::string name;
    RecipePtr type;
    std::span<const HandMove> hand = {};
    ListData lists = {};                   // what the moves by hand need to know besides
    std::optional<HandPieces> pieces = {}; // of large ones
    std::optional<Boxes> boxes = {};       // what a GPU runtime's 2-D or 3-D copies move
};

// With as few of the runtime's copies as the nest allows: a copy has rows of the innermost level;
// the level above it, if any, is the third dimension.
template <std::size_t depth>
std::optional<Boxes> boxes_of(const shapes::Nest<depth> &nest) {
    using shapes::Nest;
    if constexpr (depth == 1) return Boxes{Nest<2>{nest.block, {{1, 0}, nest.levels[0]}}};
    if constexpr (depth == 2) return Boxes{nest};
    if constexpr (depth == 3) {
        // Planes of a copy are whole rows apart.
        if (nest.levels[1].stride % nest.levels[2].stride == 0)
            return Boxes{Nest<2>{nest.block, {nest.levels[1], nest.levels[2]}}, nest.levels[0]};
    }
    return std::nullopt;
}

template <std::size_t depth>
Layout nest_layout(std::string name, const shapes::Nest<depth> &nest,
                   std::span<const HandMove> hand = {}, RecipePtr unit = nullptr) {
    if (unit == nullptr) unit = nest.block % 8 == 0 ? doubles() : predefined(Element::byte);
    return {.name = std::move(name),
            .type = nest_of(std::move(unit), nest),
            .hand = hand,
            .boxes = boxes_of(nest)};
}

namespace cpu {

// Those of whole packs and unpacks, in the order of the table.
std::vector<Layout> whole_layouts();

// Those that applications send.
std::vector<Layout> app_layouts();

// Large ones, which are moved in pieces.
std::vector<Layout> large_layouts();

// Of 64 bytes.
std::vector<Layout> small_layouts();

// Runs of 1 to 4 doubles at random places.
ListData random_runs(std::size_t runs);

} // namespace cpu
} // namespace bench
