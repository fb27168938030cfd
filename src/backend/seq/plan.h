// A layout prepared for the CPU: the innermost levels of it become nests with a kernel each.
#pragma once

#include "backend.h"
#include "kernel_tables.h"
#include "nest.h"
#include "transpose.h"

#include <vector>

namespace ucd::seq {

// A node that one kernel moves.
struct NestPlan {
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
    TransposeKernel transpose[2] = {};
    bool transposed() const { return transpose[0] != nullptr; }
};

class SeqPlan final : public Plan {
public:
    SeqPlan(const Layout &layout, int64_t extent, bool repeated);

    std::string describe() const override;
    std::size_t memory() const override;

    enum class Form : uint8_t {
        contiguous, // one block, however often it is repeated
        nest,       // one kernel moves all
        tree,       // kernels for parts, and a walk over what is above them
    };
    Form form;
    const Layout &layout;
    int64_t extent;
    uint64_t size;           // packed bytes of one repetition
    NestPlan top;            // form nest
    uint64_t iterations = 0; // of its outermost level, per repetition

    // Whether a node under a tree's walk is moved as a whole, and how.
    bool is_leaf(NodeId id) const { return part_[id] != no_part; }
    const NestPlan &part(NodeId id) const { return parts_[part_[id]]; }

private:
    static constexpr uint32_t no_part = UINT32_MAX;
    std::vector<uint32_t> part_; // per node
    std::vector<NestPlan> parts_;
};

// As run_nest() below, for any range and any nest.
void run_part(const NestPlan &plan, char *origin, uint64_t begin, uint64_t end, char *packed,
              Direction direction);

// Moves the packed bytes [begin, end) of a node placed at `origin`; `packed` is where byte `begin`
// is or goes. The node has `total` packed bytes and its outermost level `count` iterations.
inline void run_nest(const NestPlan &plan, uint64_t count, uint64_t total, char *origin,
                     uint64_t begin, uint64_t end, char *packed, Direction direction) {
    if (begin != 0 || end != total || plan.levels == 0 || plan.transposed())
        return run_part(plan, origin, begin, end, packed, direction);
    // The whole node: no search for where it starts and ends.
    Position last = plan.last;
    last.at[0] = count - 1;
    plan.kernel[static_cast<unsigned>(direction)](plan.nest, origin, packed, Position{}, last);
}

} // namespace ucd::seq
