// The second part of the contract: what the host's backend has beside the functions of
// function_list.h, and no device. The host's backend is never a plugin, so the frontend calls these
// functions directly. A table would make each an indirect call, and move_whole() is on the path of
// a short pack. Most are used before there is a plan, because they are compiled for the CPU's
// widest instructions: they examine lists of blocks, move data by such lists, and copy and convert
// from layout to layout.
#pragma once

#include "move.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ucd {

struct ListReach {
    int64_t least, most;
};

struct CopiedList {
    ListReach reach; // of the given entries
    uint64_t bits;   // that are set in any of the displacements
};

// Converts a nonempty list of displacements in units to bytes from `origin`, which is in units,
// too: to[i] = (list[i] - origin) * unit, which wraps. The two lists do not overlap.
CopiedList copy_list(std::span<const int64_t> list, int64_t origin, int64_t unit, int64_t *to);

// Properties of a nonempty list of blocks with individual lengths. The magnitude of a displacement
// has no more bits than `displ_bits`, the union of all of them, in which a negative number counts
// as its complement.
struct BlocksLook {
    uint64_t displ_bits = 0;
    uint64_t lengths = 0;              // the sum of the lengths, which wraps
    int64_t shortest = 0, longest = 0; // of the lengths
    ListReach reach = {};              // from displs[i] to displs[i] + lengths[i] - 1, which wrap
};
BlocksLook look_at_blocks(std::span<const int64_t> displs, const int64_t *lengths);

// Blocks in packed order, each of which is consecutive bytes at shift + displs[i].
struct PlainBlocks {
    std::span<const int64_t> displs;
    const uint64_t *first = nullptr; // if not null, block i has (first[i + 1] - first[i]) * bytes
    uint64_t shortest = 1, longest = 1; // of these differences
    int64_t shift = 0;
    uint64_t bytes = 0;
};

// How a list of blocks is moved, which needs no plan; both sides are in host memory.
struct ListMove {
    Direction direction;
    MoveAddresses at; // of displacement 0 on the side of the list
    uint64_t length;  // bytes of all blocks
    uint32_t threads; // at most
    char *typed() const { return direction == Direction::pack ? at.from : at.to; }
    char *packed() const { return direction == Direction::pack ? at.to : at.from; }
};

// Moves all blocks. If several threads are allowed, it may throw std::bad_alloc after some blocks
// were moved.
void move_list(const PlainBlocks &list, const ListMove &move);

// Runs a pack, an unpack or a conversion between packed bytes to completion, in the calling thread
// and, if its limits allow, in others. The host's backend made the plan. Both sides are in host
// memory. If several threads are allowed, it may throw std::bad_alloc after some bytes were moved.
void run_move(const Move &move);

// Moves a whole object by a plan that the host's backend made for a count of 1, with one thread.
// Both sides are in host memory. Does what a launch does, with fewer steps: a short call takes
// hardly longer than what surrounds it.
void move_whole(const KernelPlan &plan, Direction direction, char *typed, char *packed);

// `count` repetitions of a layout in host memory.
struct HostStream {
    const Layout *layout = nullptr;
    int64_t extent = 0;
    char *typed = nullptr; // of displacement 0
    uint64_t count = 0;
};

// Copies the bytes [begin, end) of one packed stream to the same ones of another, if that is faster
// than packing and unpacking. Returns false if it did nothing.
bool copy_in_one_pass(const HostStream &from, const HostStream &to, uint64_t begin, uint64_t end);

struct HostConversion {
    Element from = Element::none, to = Element::none; // representations of real numbers
    bool saturate = false;                            // as Op::convert_sat
    uint32_t threads = 1;                             // at most
};

// Converts the elements [begin, end) of one packed stream to the same ones of another, if that is
// faster than converting packed elements. Each stream consists of elements of one kind. Returns
// false if it did nothing.
bool convert_in_one_pass(const HostStream &from, const HostStream &to, uint64_t begin, uint64_t end,
                         const HostConversion &conversion);

} // namespace ucd
