// The range that lists of blocks cover.
#pragma once

#include "types/bounds.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ucd {

// A list in kept memory, if there is some that fits, and what was seen of it while it was copied.
struct SeenList {
    std::vector<int64_t> entries;
    int64_t least = 0, most = 0; // of the entries, if there are any
    uint64_t differing = 0;      // the bits in which not all entries are equal
};
SeenList seen_copy_of(std::span<const int64_t> list);

// Blocks of `lengths[i]` children, `stride` apart, at `displs[i]` * `unit`.
struct BlocksOfOwnLength {
    std::span<const int64_t> displs, lengths;
    int64_t unit, stride;

    // Sets `any_empty` if a length is 0. Returns false if a length is negative; `bounds` and
    // `any_empty` are then unspecified.
    bool add_to(Bounds &bounds, const Type &child, bool &any_empty) const;
};

} // namespace ucd
