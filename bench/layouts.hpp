// The layouts that are measured: name, description, and the loops written for them by hand.
#pragma once

#include "hand_loops.hpp"
#include "recipe.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

struct Layout {
    std::string name;
    RecipePtr type;
    std::span<const HandLoop> hand;
    Lists lists = {};                      // what the loops need to know besides
    std::optional<HandPieces> pieces = {}; // of large ones
};

// Those of whole packs and unpacks, in the order of the table.
std::vector<Layout> whole_layouts();

// Those that applications send.
std::vector<Layout> app_layouts();

// Large ones, which are moved in pieces.
std::vector<Layout> large_layouts();

// Of 64 bytes.
std::vector<Layout> small_layouts();

// Runs of 1 to 4 doubles at random places, as arguments of a constructor.
struct IndexedArguments {
    Ints blocklengths, displs;
};
IndexedArguments random_runs(std::size_t runs);

} // namespace bench
