// A layout prepared for the CPU: its innermost levels are nests, each with a kernel.
#pragma once

#include "implement.h"
#include "nest_plan.h"

#include <vector>

namespace ucd::seq {

// Whether the node is one block, or blocks at equal distances.
inline bool is_row(const Layout &layout, const Node &node) {
    return node.kind == NodeKind::block ||
           (node.kind == NodeKind::strided && layout.nodes[node.child].kind == NodeKind::block);
}

class SeqPlan final : public KernelPlanOf<SeqPlan> {
public:
    // If the plan would take more than `max_bytes`, a smaller and slower one is made.
    SeqPlan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes);

    std::string description() const;
    std::size_t memory() const;

    enum class Form : uint8_t {
        contiguous, // one block, however often it is repeated
        nest,       // one kernel moves everything
        tree,       // kernels move parts, and a walk visits the levels above them
        blocks,     // a walk visits all blocks
    };
    Form form;
    const Layout &layout;
    int64_t extent;
    uint64_t size;              // packed bytes of one repetition
    NestPlan top;               // for form nest
    uint64_t iterations = 0;    // of its outermost level, per repetition
    bool has_long_rows = false; // whether moving row by row pays

    // Whether the walk of a tree moves this node as a whole, and with which nest.
    bool is_leaf(NodeId id) const { return part_[id] != no_part; }
    const NestPlan &part(NodeId id) const { return parts_[part_[id]]; }

private:
    bool cut(const Node &whole, const std::vector<unsigned> &levels, unsigned level_limit,
             uint64_t max_bytes);

    static constexpr uint32_t no_part = UINT32_MAX;
    std::vector<uint32_t> part_; // for each node
    std::vector<NestPlan> parts_;
};

inline const SeqPlan &plan_of(const Side &side) {
    return static_cast<const SeqPlan &>(*side.plan);
}

// The byte at a displacement from an address.
inline char *at(char *address, int64_t displacement) {
    return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(address) +
                                    static_cast<uintptr_t>(displacement));
}

// Copies consecutive bytes from the layout's side to the packed one, or back.
inline void copy_block(Direction direction, char *typed, char *packed, uint64_t bytes) {
    const bool pack = direction == Direction::pack;
    __builtin_memcpy(pack ? packed : typed, pack ? typed : packed, bytes);
}

} // namespace ucd::seq
