// The rewrites of strides, lists and structures. Each is one function or one condition, with its
// name as a string beside it; the public functions of Builder define the order in which they are
// tried.

#include "layout/normalise/builder.h"
#include "layout/normalise/period.h"
#include "layout/segments.h"
#include "layout_walk.h"

#include <algorithm>
#include <numeric>

namespace ucd {

Placed Builder::strided_without_expansion(uint64_t count, int64_t stride, Placed child) {
    if (count == 0 || child.none()) {
        applied("drop-empty");
        return {};
    }
    if (count == 1) {
        applied("collapse-single");
        return child;
    }
    const Node &c = node(child.id);
    if (c.kind == NodeKind::block && stride == static_cast<int64_t>(c.bytes)) {
        applied("merge-touching");
        return block(child.at, c.bytes * count, c.element);
    }
    if (c.kind == NodeKind::strided && continues_steps(c, stride))
        applied("collapse-nested-strides");
    return make_strided(count, stride, child);
}

Placed Builder::strided(uint64_t count, int64_t stride, Placed child) {
    const Placed s = strided_without_expansion(count, stride, child);
    return s.id == child.id ? s : from_segments_if_small(s);
}

Placed Builder::indexed_block(std::vector<int64_t> displs, Placed child, const ListLook *look) {
    if (displs.empty() || child.none()) {
        applied("drop-empty");
        return {};
    }
    const Node &c = node(child.id);
    if (c.kind == NodeKind::block) {
        Placed blocks = fold_equal_blocks(std::move(displs), c.bytes, c.element, look);
        blocks.at = displace(blocks.at, child.at);
        return blocks;
    }
    return from_segments_if_small(fold_displs(std::move(displs), child, look));
}

Placed Builder::indexed(std::vector<int64_t> displs, std::span<const uint64_t> first,
                        int64_t stride, Placed child) {
    if (displs.empty() || child.none()) {
        applied("drop-empty");
        return {};
    }
    const Node &c = node(child.id);
    if (is_dense(child.id, stride)) {
        applied("merge-touching");
        Placed blocks = fold_blocks_of(std::move(displs), first, c.bytes, c.element);
        blocks.at = displace(blocks.at, child.at);
        return blocks;
    }
    std::vector<uint64_t> counts(displs.size());
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = first[i + 1] - first[i];
    return from_segments_if_small(
        fold_indexed(std::move(displs), std::move(counts), stride, child));
}

// Appends the segments of `placed`; false if they are not all of the list's element, or are too
// many.
bool Builder::expand(Placed placed, BlockList &list) {
    const Node &top = node(placed.id);
    const Extra &extra = extra_[placed.id];
    if (top.has_reference) return false;
    if (list.size() == 0) list.element = extra.element;
    if (extra.mixed || extra.element != list.element) return false;
    if (!pay(top.segments.count)) return false;
    out_.set_top(placed.id, placed.at, extra.depth);
    // Segments are listed rather than blocks: a run of 2^40 blocks that touch is one segment.
    list_segments(out_, top, 0, top.bytes, top.segments.count,
                  [&](uint64_t, const Segment &s) { list.push(s.displ, s.bytes); });
    return true;
}

bool Builder::expand_all(const std::vector<Placed> &entries, std::size_t begin, std::size_t end,
                         BlockList &list) {
    for (std::size_t i = begin; i < end; ++i)
        if (!expand(entries[i], list)) return false;
    return true;
}

Placed Builder::from_segments_if_small(Placed placed) {
    if (placed.none()) return placed;
    if (node(placed.id).segments.count > small || extra_[placed.id].plain) return placed;
    BlockList list;
    if (!expand(placed, list)) return placed;
    applied("from-segments");
    return fold_blocks(std::move(list));
}

Placed Builder::structure(std::vector<Placed> entries) {
    if (std::erase_if(entries, [](const Placed &p) { return p.none(); }) > 0) applied("drop-empty");
    if (entries.empty()) return {};
    Placed result;
    if (as_indexed(entries, NodeKind::structure, result)) return result;
    splice_structures(entries);
    merge_touching(entries);
    return fold_structure(std::move(entries));
}

// Replaces a structure within a structure by its children, as long as the result stays small:
// shared structures must not multiply.
void Builder::splice_structures(std::vector<Placed> &entries) {
    uint64_t total = 0;
    bool any = false;
    for (const Placed &e : entries) {
        const Node &n = node(e.id);
        any = any || n.kind == NodeKind::structure;
        total += n.kind == NodeKind::structure ? n.count : 1;
    }
    if (!any || total > std::max<uint64_t>(small, 2 * entries.size()) || same_shape(entries))
        return;
    if (!pay(total - entries.size())) return;
    applied("splice-structures");
    std::vector<Placed> spliced;
    spliced.reserve(total);
    for (const Placed &e : entries) {
        const Node &n = node(e.id);
        if (n.kind != NodeKind::structure) {
            spliced.push_back(e);
            continue;
        }
        const Table &t = out_->tables[n.table];
        for (uint64_t i = 0; i < n.count; ++i)
            spliced.push_back({displace(e.at, t.displs[i]), t.children[i]});
    }
    entries = std::move(spliced);
}

void Builder::merge_touching(std::vector<Placed> &entries) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < entries.size();) {
        // Consecutive blocks that touch become one block at once, however many they are.
        const Node first = node(entries[i].id);
        uint64_t bytes = first.bytes;
        std::size_t j = i + 1;
        if (first.kind == NodeKind::block) {
            for (; j < entries.size(); ++j) {
                const Node &next = node(entries[j].id);
                if (next.kind != NodeKind::block || next.element != first.element ||
                    displace(entries[i].at, static_cast<int64_t>(bytes)) != entries[j].at)
                    break;
                bytes += next.bytes;
            }
        }
        entries[n++] = j > i + 1 ? block(entries[i].at, bytes, first.element) : entries[i];
        i = j;
    }
    if (n < entries.size()) applied("merge-touching");
    entries.resize(n);
}

bool Builder::all_blocks(const std::vector<Placed> &entries) const {
    return std::all_of(entries.begin(), entries.end(), [&](const Placed &p) {
        return node(p.id).kind == NodeKind::block &&
               node(p.id).element == node(entries[0].id).element;
    });
}

bool Builder::same_shape(const std::vector<Placed> &entries) const {
    return std::all_of(entries.begin(), entries.end(),
                       [&](const Placed &p) { return p.id == entries[0].id; });
}

// Makes an indexed node of children each of which is a shape, or a run of that shape at one stride.
bool Builder::as_indexed(const std::vector<Placed> &entries, NodeKind kind, Placed &result) {
    // The shape is the child of some entry. If the first few candidates fail, later ones hardly
    // ever succeed.
    constexpr unsigned max_candidates = 4;
    unsigned candidates = 0;
    NodeId tried = no_node;
    for (const Placed &e : entries) {
        const Node &n = node(e.id);
        if (n.kind != NodeKind::strided || node(n.child).kind != kind || n.child == tried) continue;
        if (++candidates > max_candidates) return false;
        tried = n.child;
        if (indexed_of(entries, n.child, n.stride, result)) return true;
    }
    return false;
}

bool Builder::indexed_of(const std::vector<Placed> &entries, NodeId shape, int64_t stride,
                         Placed &result) {
    std::vector<int64_t> displs;
    std::vector<uint64_t> first{0};
    for (const Placed &e : entries) {
        const Node &n = node(e.id);
        const bool multiple = n.kind == NodeKind::strided && n.child == shape && n.stride == stride;
        if (!multiple && e.id != shape) return false;
        displs.push_back(e.at);
        first.push_back(first.back() + (multiple ? n.count : 1));
    }
    applied("runs-of-one-shape");
    result = indexed(std::move(displs), first, stride, {0, shape});
    return true;
}

bool Builder::as_period(const std::vector<Placed> &entries, Placed &result) {
    const auto step = [&](std::size_t i) { return step_between(entries[i - 1].at, entries[i].at); };
    const std::size_t p = shortest_period(
        entries.size(), [&](auto i, auto j) { return step(i) == step(j); },
        [&](auto i, auto j) { return entries[i].id == entries[j].id; });
    if (p == entries.size()) return false;
    applied("period");
    const auto stride = step_between(entries[0].at, entries[p].at);
    const std::vector<Placed> one(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(p));
    result = strided(entries.size() / p, stride, fold_structure(one));
    return true;
}

// Joins neighbours of one shape to one entry, and likewise neighbours with few segments.
bool Builder::group_neighbours(std::vector<Placed> &entries) {
    std::vector<Placed> grouped;
    std::size_t looked_at = 0; // no two entries before this index can be joined
    for (std::size_t i = 0; i < entries.size();) {
        std::size_t j = i;
        uint64_t segments = 0;
        const Extra &first = extra_[entries[i].id];
        while (i >= looked_at && j < entries.size() && !extra_[entries[j].id].mixed &&
               !node(entries[j].id).has_reference &&
               extra_[entries[j].id].element == first.element &&
               node(entries[j].id).segments.count <= tiny &&
               segments + node(entries[j].id).segments.count <= small) {
            segments += node(entries[j].id).segments.count;
            ++j;
        }
        BlockList list;
        if (j > i + 1 && expand_all(entries, i, j, list)) {
            grouped.push_back(fold_blocks(std::move(list)));
            i = j;
            continue;
        }
        looked_at = std::max(looked_at, j);
        std::vector<int64_t> displs;
        for (j = i; j < entries.size() && entries[j].id == entries[i].id; ++j)
            displs.push_back(entries[j].at);
        grouped.push_back(j > i + 1 ? indexed_block(std::move(displs), {0, entries[i].id})
                                    : entries[i]);
        i = j;
    }
    if (grouped.size() == entries.size()) return false;
    applied("group-neighbours");
    entries = std::move(grouped);
    return true;
}

Placed Builder::fold_structure(std::vector<Placed> entries) {
    if (entries.size() == 1) return entries[0];
    if (all_blocks(entries)) {
        applied("structure-of-bytes");
        BlockList list;
        list.element = node(entries[0].id).element;
        for (const Placed &e : entries) list.push(e.at, node(e.id).bytes);
        return fold_blocks(std::move(list));
    }
    uint64_t segments = 0;
    for (const Placed &e : entries) segments += node(e.id).segments.count;
    if (segments <= small) {
        BlockList list;
        if (expand_all(entries, 0, entries.size(), list)) {
            applied("from-segments");
            return fold_blocks(std::move(list));
        }
    }
    if (same_shape(entries)) {
        applied("same-shape-index");
        std::vector<int64_t> displs;
        displs.reserve(entries.size());
        for (const Placed &e : entries) displs.push_back(e.at);
        return indexed_block(std::move(displs), {0, entries.front().id});
    }
    Placed result;
    for (const NodeKind kind :
         {NodeKind::block, NodeKind::strided, NodeKind::indexed_block, NodeKind::indexed})
        if (as_indexed(entries, kind, result)) return result;
    if (as_period(entries, result)) return result;
    if (group_neighbours(entries)) return fold_structure(std::move(entries));
    return make_structure(entries);
}

} // namespace ucd
