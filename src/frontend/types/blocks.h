// The range that lists of blocks cover.
#pragma once

#include "types/bounds.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ucd {

// A copy of a list, in kept memory if there is a list that fits. Sets the least and the greatest
// entry, unless the list is empty.
std::vector<int64_t> copy_with_extremes(std::span<const int64_t> list, int64_t &least,
                                        int64_t &most);

// Blocks of `lengths[i]` children, `stride` apart, at `displs[i]` * `unit`.
struct BlocksOfOwnLength {
    std::span<const int64_t> displs, lengths;
    int64_t unit, stride;

    // Sets `any_empty` if a length is 0. Returns false if a length is negative; `bounds` and
    // `any_empty` are then unspecified.
    bool add_to(Bounds &bounds, const Type &child, bool &any_empty) const;
};

} // namespace ucd
