// A node of a layout that one kernel moves: how that is prepared, and how a range of it is moved.
#pragma once

#include "kernel_tables.h"
#include "layout.h"
#include "nest.h"
#include "transpose.h"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace ucd::seq {

// Displacements in 32 bits each: entry i is `least` plus entries[i] << shift.
struct NarrowList {
    std::vector<uint32_t> entries;
    int64_t least = 0;
    unsigned shift = 0;
};

// What running a node by one kernel takes.
struct RunnableNest {
    Nest nest;
    MoveKernel kernel[2] = {}; // by Direction
    uint8_t levels = 0;        // 0: a block, which needs no kernel
    LevelKind kinds[max_levels] = {};
    uint64_t each[max_levels] = {}; // packed bytes of one child, per level
    Position last = {};             // the last block; its at[0] depends on the count of the call
    Leaf leaf = Leaf::m;
    // If the innermost level is better moved in tiles, together with another level whose steps are
    // short: that level, and the kernels by Direction.
    uint8_t row_level = 0;
    bool whole_at_once = false; // one call of the kernel moves all of it
    TransposeKernel transpose[2] = {};
    bool transposed() const { return transpose[0] != nullptr; }
    // If there is one: the displacements of the innermost level, whose own list is null. They are
    // widened a part at a time while they are used.
    const NarrowList *narrow = nullptr;
};

// A node that one kernel moves.
struct NestPlan : RunnableNest {
    // The displacements of levels that were merged, and of pieces of runs.
    std::vector<std::vector<int64_t>> lists;
    std::unique_ptr<NarrowList> narrow_list;
    std::size_t list_bytes() const;
};
// A copy's levels would have the lists of the original.
static_assert(std::is_nothrow_move_constructible_v<NestPlan>);

// How many levels a node has around its blocks, given how many its child has; no_nest if they are
// too many for a nest in any way, or if there is a sequence among them.
inline constexpr unsigned no_nest = UINT32_MAX;
unsigned count_levels(const Layout &layout, const Node &node, unsigned below);

// Whether the levels of a node that has not too many can be merged until a kernel has that many.
// `open_ended`: the count of the outermost depends on the call.
bool is_nest(const Layout &layout, const Node &top, bool open_ended);

// The bytes of the lists that make_nest() would make, at most.
uint64_t list_bytes_of(const Layout &layout, const Node &top, bool open_ended);

// Of a node that is one. The displacements of a node by reference are left open: see
// run_by_reference().
NestPlan make_nest(const Layout &layout, const Node &top, bool open_ended);

// The rows of level `row`, whose columns are the innermost level.
Matrix matrix_of(const RunnableNest &plan, unsigned row);

// As run_nest() below, for any range and any nest.
void run_part(const RunnableNest &plan, char *origin, uint64_t begin, uint64_t end, char *packed,
              Direction direction);

// Moves the packed bytes [begin, end) of a node placed at `origin`; `packed` is where byte `begin`
// is or goes. The node has `total` packed bytes and its outermost level `count` iterations.
inline void run_nest(const RunnableNest &plan, uint64_t count, uint64_t total, char *origin,
                     uint64_t begin, uint64_t end, char *packed, Direction direction) {
    if (begin != 0 || end != total || !plan.whole_at_once)
        return run_part(plan, origin, begin, end, packed, direction);
    // The whole node: no search for where it starts and ends.
    Position last = plan.last;
    last.at[0] = count - 1;
    plan.kernel[static_cast<unsigned>(direction)](plan.nest, origin, packed, Position{}, last);
}

// As run_nest() of a node by reference. Of the list it reads what the range needs, and nothing
// else.
void run_by_reference(const RunnableNest &plan, const IndexList &list, char *origin, uint64_t begin,
                      uint64_t end, char *packed, Direction direction);

} // namespace ucd::seq
