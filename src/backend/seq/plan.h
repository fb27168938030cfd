// A layout prepared for the CPU: the innermost levels of it become nests with a kernel each.
#pragma once

#include "backend.h"
#include "nest_plan.h"

#include <vector>

namespace ucd::seq {

// Blocks at equal distances, or one alone.
inline bool is_row(const Layout &layout, const Node &node) {
    return node.kind == NodeKind::block ||
           (node.kind == NodeKind::strided && layout.nodes[node.child].kind == NodeKind::block);
}

class SeqPlan final : public KernelPlan {
public:
    // What takes more than `max_bytes` is done with less, more slowly.
    SeqPlan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes);

    std::string describe() const override;
    std::size_t memory() const override;

    enum class Form : uint8_t {
        contiguous, // one block, however often it is repeated
        nest,       // one kernel moves all
        tree,       // kernels for parts, and a walk over what is above them
        blocks,     // a walk over all
    };
    Form form;
    const Layout &layout;
    int64_t extent;
    uint64_t size;              // packed bytes of one repetition
    NestPlan top;               // form nest
    uint64_t iterations = 0;    // of its outermost level, per repetition
    bool has_long_rows = false; // worth going from one to the next

    // Whether a node under a tree's walk is moved as a whole, and how.
    bool is_leaf(NodeId id) const { return part_[id] != no_part; }
    const NestPlan &part(NodeId id) const { return parts_[part_[id]]; }

private:
    bool cut(const Node &whole, const std::vector<unsigned> &levels, unsigned level_limit,
             uint64_t max_bytes);

    static constexpr uint32_t no_part = UINT32_MAX;
    std::vector<uint32_t> part_; // per node
    std::vector<NestPlan> parts_;
};

} // namespace ucd::seq
