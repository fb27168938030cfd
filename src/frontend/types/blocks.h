// How far lists of blocks reach.
#pragma once

#include "types/bounds.h"

#include <cstdint>
#include <span>
#include <utility>

namespace ucd {

// The least and the greatest entry of a list that has one at least.
std::pair<int64_t, int64_t> extremes_of(std::span<const int64_t> list);

// Blocks of `lengths[i]` children, `stride` apart, at `displs[i]` times `unit`.
struct BlocksOfOwnLength {
    std::span<const int64_t> displs, lengths;
    int64_t unit, stride;

    bool has_negative_length() const;
    // The lengths are not negative.
    void add_to(Bounds &bounds, const Type &child) const;
};

} // namespace ucd
