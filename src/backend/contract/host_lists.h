// Functions of the host's backend that the frontend uses before there is a layout, because they are
// compiled for the CPU's widest instructions: they examine lists of blocks, and move data by such
// lists.
#pragma once

#include "direction.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ucd {

struct ListReach {
    int64_t least, most;
};

// The least and the greatest entry of a list that is not empty.
ListReach reach_of_list(std::span<const int64_t> list);

// Properties of a nonempty list of blocks with individual lengths. The magnitude of a displacement
// has no more bits than `displ_bits`, the union of all of them, in which a negative number counts
// as its complement.
struct BlocksLook {
    uint64_t displ_bits = 0, length_bits = 0; // union of all lengths; negative if one of them is
    uint64_t lengths = 0;                     // the sum of the lengths, which wraps
    bool any_empty = false;                   // valid if no length is negative
    ListReach reach = {};                     // from displs[i] to displs[i] + lengths[i] - 1, which
                                              // wrap
};
BlocksLook look_at_blocks(std::span<const int64_t> displs, const int64_t *lengths);

// Blocks in packed order, each of which is consecutive bytes at displs[i] * unit.
struct ListMove {
    std::span<const int64_t> displs;
    const int64_t *lengths = nullptr; // if not null, block i has lengths[i] * bytes
    int64_t unit = 1;
    uint64_t bytes = 0;
    uint64_t total = 0; // the bytes of all blocks
    char *typed = nullptr, *packed = nullptr;
    Direction direction = Direction::pack;
    uint32_t threads = 1;
};

// Moves the blocks; both sides are in host memory. If several threads are allowed, it may throw
// std::bad_alloc after some blocks were moved.
void move_list(const ListMove &list);

} // namespace ucd
