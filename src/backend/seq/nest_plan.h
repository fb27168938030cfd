// Prepares a node of a layout that one kernel can move, and moves ranges of it.
#pragma once

#include "kernel_tables.h"
#include "layout.h"
#include "nest.h"
#include "permute.h"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace ucd::seq {

// Displacements in 32 bits each: entry i stands for `least` + (entries[i] << shift).
struct NarrowList {
    std::vector<uint32_t> entries;
    int64_t least = 0;
    unsigned shift = 0;
};

// The data for running a node by one kernel.
struct RunnableNest {
    Nest nest;
    MoveKernel kernel[2] = {}; // indexed by Direction
    uint8_t levels = 0;        // 0: a block, which needs no kernel
    LevelKind kinds[max_levels] = {};
    uint64_t each[max_levels] = {}; // packed bytes of one child, for each level
    Position last = {};             // the last block; its at[0] depends on the count of the call
    Leaf leaf = Leaf::m;
    bool whole_at_once = false; // one call of the kernel moves all of it
    // If not null: the levels as loops whose order is better changed. If they are too many for a
    // kernel, `levels` is 0, and `nest` has only the count of the outermost.
    const Axes *permuted = nullptr;
    // If not null: the displacements of the innermost level, whose own list is then null. They are
    // widened in portions while they are used.
    const NarrowList *narrow = nullptr;
};

// A node that one kernel moves, and the lists for it.
struct NestPlan : RunnableNest {
    // The displacements of merged levels, and of pieces of runs.
    std::vector<std::vector<int64_t>> lists;
    std::unique_ptr<NarrowList> narrow_list;
    std::unique_ptr<Axes> axes;
    std::size_t list_bytes() const;
};
// Not copyable: the levels of a copy would refer to the lists of the original.
static_assert(std::is_nothrow_move_constructible_v<NestPlan>);

// The number of a node's levels around its blocks, given that of its child. no_nest if there are
// too many for any nest, or if a structure is among them.
inline constexpr unsigned no_nest = UINT32_MAX;
unsigned count_levels(const Layout &layout, const Node &node, unsigned below);

// For a node with not too many levels: whether they can be merged until a kernel supports their
// number. `open_ended`: the count of the outermost level depends on the call.
bool is_nest(const Layout &layout, const Node &top, bool open_ended);

// For a node with not too many levels: whether a level around a large permutation keeps its loops
// from being reordered. The permutation is then better moved as a nest of its own.
bool hides_permuted(const Layout &layout, const Node &top);

// An upper limit of the bytes of the lists that make_nest() would make.
uint64_t list_bytes_of(const Layout &layout, const Node &top, bool open_ended);

// For a node for which is_nest() is true. For a node by reference, no displacements are set: see
// run_by_reference().
NestPlan make_nest(const Layout &layout, const Node &top, bool open_ended);

// Same as run_nest() below, for any range and any nest.
void run_part(const RunnableNest &plan, char *origin, uint64_t begin, uint64_t end, char *packed,
              Direction direction);

// Moves a whole node, whose counts are those that the plan was made from, with one call of its
// kernel. Only if whole_at_once is set.
inline void run_whole(const RunnableNest &plan, char *origin, char *packed, Direction direction) {
    static constexpr Position first{};
    plan.kernel[static_cast<unsigned>(direction)](plan.nest, origin, packed, first, plan.last);
}

// Moves the packed bytes [begin, end) of a node placed at `origin`; `packed` is the address for
// byte `begin`. The node has `total` packed bytes, and its outermost level `count` iterations.
inline void run_nest(const RunnableNest &plan, uint64_t count, uint64_t total, char *origin,
                     uint64_t begin, uint64_t end, char *packed, Direction direction) {
    if (begin != 0 || end != total || !plan.whole_at_once)
        return run_part(plan, origin, begin, end, packed, direction);
    // The whole node needs no search for its first and last block.
    Position last = plan.last;
    last.at[0] = count - 1;
    plan.kernel[static_cast<unsigned>(direction)](plan.nest, origin, packed, Position{}, last);
}

// Same as run_nest(), for a node by reference. Reads only those entries of the list that the range
// needs.
void run_by_reference(const RunnableNest &plan, const IndexList &list, char *origin, uint64_t begin,
                      uint64_t end, char *packed, Direction direction);

} // namespace ucd::seq
