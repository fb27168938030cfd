#include "plan.h"

#include "layout_walk.h"

#include <algorithm>
#include <cstdio>

namespace ucd::seq {
namespace {

bool is_one_nest(const Layout &layout, const Node &node, unsigned levels, bool open_ended) {
    return levels != no_nest && !hides_permuted(layout, node) &&
           (levels <= max_levels || is_nest(layout, node, open_ended));
}

// Whether the rows are so long, on average, that finding the next one is cheap in comparison.
bool rows_are_long(const Layout &layout) {
    constexpr uint64_t long_enough = 512;
    std::vector<uint64_t> rows(layout.nodes.size(), 1);
    for (NodeId id = 0; id < layout.nodes.size(); ++id) {
        const Node &n = layout.nodes[id];
        if (is_row(layout, n)) continue;
        if (n.kind == NodeKind::structure) {
            rows[id] = 0;
            for (const NodeId child : layout.tables[n.table].children) rows[id] += rows[child];
        } else {
            const uint64_t children =
                n.kind == NodeKind::indexed ? layout.tables[n.table].first.back() : n.count;
            rows[id] = children * rows[n.child];
        }
    }
    return layout.top().bytes / rows[layout.root] >= long_enough;
}

// What moves the nest; of two directions, the kernel that packs.
const char *name_of(const NestPlan &p) {
    if (p.permuted != nullptr) return transpose_kernel(leaf_for_block(p.permuted->block)).name();
    if (p.levels == 0) return "memcpy";
    return move_kernel(Direction::pack, {p.kinds, p.levels}, p.leaf).name();
}

} // namespace

SeqPlan::SeqPlan(const Layout &l, int64_t e, bool repeated, uint64_t max_bytes)
    : form(Form::contiguous), layout(l), extent(e), size(l.empty() ? 0 : l.top().bytes) {
    if (layout.empty()) return;
    // A count of 2 represents all counts above 1, because only the outermost count differs.
    const Node whole = repeat(layout.top(), layout.root, repeated ? 2 : 1, extent);
    if (whole.kind == NodeKind::block) return;
    has_long_rows = rows_are_long(layout);
    const uint64_t most = max_bytes - std::min<uint64_t>(max_bytes, sizeof *this);

    std::vector<unsigned> levels(layout.nodes.size());
    for (NodeId id = 0; id < layout.nodes.size(); ++id) {
        const Node &n = layout.nodes[id];
        const bool has_child = n.kind != NodeKind::block && n.kind != NodeKind::structure;
        levels[id] = count_levels(layout, n, has_child ? levels[n.child] : 0);
    }
    const unsigned whole_levels =
        count_levels(layout, whole, whole.kind == NodeKind::structure ? 0 : levels[whole.child]);
    if (!whole.has_reference && is_one_nest(layout, whole, whole_levels, repeated) &&
        (max_bytes == UINT64_MAX || list_bytes_of(layout, whole, repeated) <= most)) {
        form = Form::nest;
        top = make_nest(layout, whole, repeated);
        iterations = repeated ? whole.count / 2 : top.nest.level[0].count;
        return;
    }
    form = cut(whole, levels, no_nest - 1, most) || cut(whole, levels, max_levels, most)
               ? Form::tree
               : Form::blocks;
}

// Makes nests of the largest parts below `whole` that have at most `level_limit` levels. If they
// take more than `max_bytes`, returns false and makes nothing.
bool SeqPlan::cut(const Node &whole, const std::vector<unsigned> &levels, unsigned level_limit,
                  uint64_t max_bytes) {
    std::vector<bool> one_nest(layout.nodes.size());
    for (NodeId id = 0; id < layout.nodes.size(); ++id)
        one_nest[id] =
            levels[id] <= level_limit && is_one_nest(layout, layout.nodes[id], levels[id], false);
    std::vector<uint32_t> part(layout.nodes.size(), no_part);
    std::vector<NodeId> cuts;
    uint64_t bytes = part.size() * sizeof part[0];
    const auto add = [&](NodeId child) {
        if (!one_nest[child] || part[child] != no_part) return;
        part[child] = static_cast<uint32_t>(cuts.size());
        cuts.push_back(child);
        bytes += sizeof(NestPlan);
        if (max_bytes < UINT64_MAX / 2) bytes += list_bytes_of(layout, layout.nodes[child], false);
    };
    const auto add_below = [&](const Node &n) {
        if (n.kind != NodeKind::structure) return add(n.child);
        for (NodeId c : layout.tables[n.table].children) add(c);
    };
    for (NodeId id = 0; id < layout.nodes.size() && bytes <= max_bytes; ++id)
        if (!one_nest[id]) add_below(layout.nodes[id]);
    if (whole.kind == NodeKind::by_reference && one_nest[layout.root])
        add(layout.root);
    else
        add_below(whole);
    if (bytes > max_bytes) return false;
    parts_.reserve(cuts.size());
    for (const NodeId id : cuts) parts_.push_back(make_nest(layout, layout.nodes[id], false));
    part_ = std::move(part);
    return true;
}

std::string SeqPlan::description() const {
    if (size == 0) return "nothing to move";
    if (form == Form::contiguous) return "memcpy: one block";
    if (form == Form::nest && top.permuted != nullptr)
        return std::string(name_of(top)) + ": " + std::to_string(top.permuted->count) +
               " levels, in an order of their own";
    if (form == Form::nest)
        return std::string(name_of(top)) + ": one nest" +
               (top.lists.empty() ? "" : ", of merged levels");
    if (form == Form::blocks)
        return "a walk down to every block: kernels for its parts would take more memory than the "
               "type may";
    char text[96];
    std::snprintf(text, sizeof text,
                  "a walk over the upper levels, %zu nests below it:", parts_.size());
    std::string all = text;
    constexpr std::size_t most = 4;
    for (std::size_t i = 0; i < std::min(parts_.size(), most); ++i) {
        all += ' ';
        all += name_of(parts_[i]);
    }
    if (parts_.size() > most) all += " ...";
    return all;
}

std::size_t SeqPlan::memory() const {
    std::size_t bytes = sizeof *this + part_.capacity() * sizeof part_[0] + top.list_bytes();
    for (const NestPlan &p : parts_) bytes += sizeof p + p.list_bytes();
    return bytes;
}

} // namespace ucd::seq
