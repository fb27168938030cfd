// What the host's backend does for the frontend with the widest instructions of the CPU, before
// there is a layout: it looks at lists of blocks, and moves them as they were described.
#pragma once

#include "direction.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ucd {

struct ListReach {
    int64_t least, most;
};

// The least and the greatest of at least one entry.
ListReach reach_of_list(std::span<const int64_t> list);

// Of blocks with lengths of their own, as many as displacements; one at least. No entry's magnitude
// has more bits than the union of `displ_bits`, for which a negative number is its complement.
struct BlocksLook {
    uint64_t displ_bits = 0, length_bits = 0; // all lengths in one: negative if one is
    uint64_t lengths = 0;                     // their sum, which wraps
    bool any_empty = false;                   // means something if none is negative
    ListReach reach = {};                     // displs[i] to displs[i] + lengths[i] - 1, which wrap
};
BlocksLook look_at_blocks(std::span<const int64_t> displs, const int64_t *lengths);

// Blocks of consecutive bytes in packed order, at displs[i] * unit.
struct ListMove {
    std::span<const int64_t> displs;
    const int64_t *lengths = nullptr; // each block is so many times `bytes` long, if there are any
    int64_t unit = 1;
    uint64_t bytes = 0;
    uint64_t total = 0; // of all blocks
    char *typed = nullptr, *packed = nullptr;
    Direction direction = Direction::pack;
    uint32_t threads = 1;
};

// Both sides are in host memory. May throw std::bad_alloc if it may use several threads, and then
// may have moved a part.
void move_list(const ListMove &list);

} // namespace ucd
