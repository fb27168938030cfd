// Flattened types that say much in few bytes, or are chosen to be slow.
#pragma once

#include "support/moves/flat_bytes.hpp"

#include <string>
#include <vector>

namespace ucdtest {

struct HostileType {
    std::string name;
    FlatBytes bytes;
    // What its layout takes if nothing is expanded: about this, where that is more than the budget.
    std::size_t as_described = 0;
};

// Each implies far more than it says.
std::vector<HostileType> expanding_types();

// `count` strides of two of strides of two. If `equal_hashes`, the mixing function that the library
// used to have gives all of them one hash.
FlatBytes nested_pairs(int count, bool equal_hashes);

// `lists` lists of `entries`, equal but for their last entries.
FlatBytes equal_but_for_the_end(int lists, int entries);

// A sequence of two shapes of few segments; if `exhausting`, it starts with so many larger ones
// that nothing may be written out any longer.
FlatBytes two_shapes(int count, bool exhausting);

// `depth` structs within each other, all of them members of one more.
FlatBytes deep_type(int depth);

} // namespace ucdtest
