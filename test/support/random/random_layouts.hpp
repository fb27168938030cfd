// Layouts of given elements, where a test needs a second layout of the same.
#pragma once

#include "support/oracle/type_map.hpp"
#include "support/random/rng.hpp"

#include <cstdint>

namespace ucdtest {

// The same elements in the same order elsewhere: each element is placed by itself, at increasing or
// shuffled positions, in a type that shares nothing with the original's shape. Copy engines, which
// take so many blocks, can do it if the elements are in order.
RecipePtr same_elements_elsewhere(Rng &rng, const TypeMap &map, bool in_order = false);

// `total` elements of so many bytes as an array of a few dimensions, in any order of memory,
// upwards and downwards, with and without gaps.
RecipePtr random_strides(Rng &rng, std::intptr_t total, const RecipePtr &element,
                         std::intptr_t bytes);

} // namespace ucdtest
