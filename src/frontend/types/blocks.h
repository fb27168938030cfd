// The range that lists of blocks cover.
#pragma once

#include "types/bounds.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ucd {

// Displacements as types keep them, in kept memory, if there is some that fits, and what was seen
// of the list while it was converted.
struct SeenList {
    std::vector<int64_t> displs;
    int64_t least = 0, most = 0; // of the given entries, if there are any
    uint64_t bits = 0;           // that are set in any of `displs`
};
SeenList displacements_of(std::span<const int64_t> given, int64_t unit);

// The number of children before each block, and their total, which wraps.
std::vector<uint64_t> sums_of(std::span<const int64_t> lengths);

// Blocks of `lengths[i]` children, `stride` apart, at `displs[i]` * `unit`.
struct BlocksOfOwnLength {
    std::span<const int64_t> displs, lengths;
    int64_t unit, stride;

    // Adds their lengths, too. Returns false if a length is negative; what was added is then
    // unspecified.
    bool add_to(Bounds &bounds, const Type &child, BlockLengths &lengths_too) const;
};

} // namespace ucd
