// Random displacements for blocks: the regular lists that a library will want to recognise (one to
// three nested progressions), near misses of them, orderly and shuffled irregular ones, and chaos.
#pragma once

#include "support/oracle/recipe.hpp"
#include "support/oracle/type_map.hpp"
#include "support/random/rng.hpp"

#include <cstdint>
#include <vector>

namespace ucdtest {

// What a block touches, relative to where it is placed.
struct BlockRange {
    std::intptr_t low = 0, high = 0;
    std::intptr_t length() const { return high - low; }
};
BlockRange block_range(const TypeMap &map, std::intptr_t blocklength);

// Displacements, in multiples of `unit` bytes (which may be negative or 0), one for each block. The
// blocks do not overlap, except by chance in near misses and where unit is 0.
Ints orderly_displacements(Rng &rng, const std::vector<BlockRange> &blocks, std::intptr_t unit);
// Any displacements, negative and overlapping ones included, within about `reach` bytes.
Ints wild_displacements(Rng &rng, std::size_t count, std::intptr_t unit, std::intptr_t reach);

// A gap to leave between blocks: often none, mostly small.
std::intptr_t random_gap(Rng &rng);

// ceil(value / |unit|) for value >= 0; 1 if unit is 0.
std::intptr_t units_for(std::intptr_t value, std::intptr_t unit);

} // namespace ucdtest
