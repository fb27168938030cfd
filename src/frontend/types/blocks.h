// How far lists of blocks reach.
#pragma once

#include "types/bounds.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ucd {

// A copy of a list, in kept memory if there is any; and its least and its greatest entry, if it has
// one at all.
std::vector<int64_t> copy_with_extremes(std::span<const int64_t> list, int64_t &least,
                                        int64_t &most);

// Blocks of `lengths[i]` children, `stride` apart, at `displs[i]` times `unit`.
struct BlocksOfOwnLength {
    std::span<const int64_t> displs, lengths;
    int64_t unit, stride;

    // False if a length is negative; then `bounds` and `any_empty`, which is whether one is 0, mean
    // nothing.
    bool add_to(Bounds &bounds, const Type &child, bool &any_empty) const;
};

} // namespace ucd
