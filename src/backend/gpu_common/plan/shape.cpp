#include "plan/shape.h"

#include "layout_walk.h"
#include "plan/lists.h"
#include "plan/make_divisor.h"

#include <bit>
#include <numeric>

namespace ucd::gpu {
namespace {

// The maximum number of entries of a list of segments or words that replaces a subtree. More are
// allowed in proportion to the layout's own lists.
constexpr uint64_t max_entries = uint64_t{1} << 16;
// Words are found faster than segments as long as their list stays in a cache.
constexpr uint64_t max_words = uint64_t{1} << 16;

constexpr uint64_t max_positions = uint64_t{1} << 31;

ShapeLevel with_displacements(ShapeLevel level, Span<const int64_t> displs, ListBuilder &lists) {
    level.displacement_unit = unit_for(displs);
    if (level.displacement_unit == 0) {
        level.displacements = lists.add(displs);
        return level;
    }
    // All displacements are multiples of the unit, which is a power of two.
    const int shift = std::countr_zero(level.displacement_unit);
    level.displacements = lists.make<int32_t>(
        displs.size(), [&](std::size_t i) { return static_cast<int32_t>(displs[i] >> shift); });
    return level;
}

ShapeLevel with_runs(ShapeLevel level, Span<const int64_t> displs, Span<const uint64_t> first,
                     ListBuilder &lists) {
    level.kind = LevelKind::indexed;
    level.count = first.back();
    level = with_displacements(level, displs, lists);
    level.granule = granule_for(first.back(), displs.size());
    level.first = lists.make<uint32_t>(
        first.size(), [&](std::size_t i) { return static_cast<uint32_t>(first[i]); });
    level.starts = lists.add(starts_of(first, level.granule));
    return level;
}

bool fits(const Layout &layout, const Node &n) {
    if (n.kind != NodeKind::indexed) return true;
    return layout.tables[n.table].first[n.count] < max_positions;
}

// Runs of a few blocks on average: a list of all blocks takes no more memory than a list of the
// runs and the lists to search it.
bool is_short(const Layout &layout, const Node &n) {
    constexpr uint64_t few = 3;
    return layout.nodes[n.child].kind == NodeKind::block &&
           layout.tables[n.table].first[n.count] <= few * n.count;
}

ShapeLevel with_blocks(ShapeLevel level, const Table &runs, ListBuilder &lists) {
    level.kind = LevelKind::indexed_block;
    level.count = runs.first.back();
    if (runs.pieces.size() == level.count) return with_displacements(level, runs.pieces, lists);
    std::vector<int64_t> displs;
    displs.reserve(level.count);
    for (std::size_t run = 0; run < runs.displs.size(); ++run)
        for (uint64_t i = 0; i < runs.first[run + 1] - runs.first[run]; ++i)
            displs.push_back(displace(runs.displs[run], i, level.stride));
    return with_displacements(level, displs, lists);
}

ShapeLevel level_of(const Layout &layout, const Node &n, ListBuilder &lists) {
    ShapeLevel level;
    level.count = n.count;
    level.each = layout.nodes[n.child].bytes;
    level.stride = n.stride;
    if (n.kind == NodeKind::strided) return level;
    if (n.kind == NodeKind::by_reference) {
        level.kind = LevelKind::indexed_block;
        level.indices = layout.index_lists[n.table];
        return level;
    }
    if (layout.moved_once && n.kind == NodeKind::indexed_block) {
        level.kind = LevelKind::indexed_block;
        level.displacement_unit =
            unit_within(layout.bits, std::min<int64_t>(n.low, 0), std::max<int64_t>(n.high, 0));
        return level;
    }
    const Table &t = layout.tables[n.table];
    if (n.kind == NodeKind::indexed && is_short(layout, n)) return with_blocks(level, t, lists);
    if (n.kind == NodeKind::indexed) return with_runs(level, t.displs, t.first, lists);
    level.kind = LevelKind::indexed_block;
    return with_displacements(level, t.displs, lists);
}

// The maximal segments of a node, relative to its origin.
struct SegmentList {
    std::vector<int64_t> displs;
    std::vector<uint64_t> bytes;
    uint64_t common = 0; // greatest common divisor of all lengths
    bool uniform = true;
};

SegmentList segments_of(const Layout &layout, const Node &node) {
    SegmentList list;
    Walk walk(layout, node, 0, is_block);
    walk.start(0, node.bytes);
    int64_t end = 0;
    for (Piece piece; walk.next(piece);) {
        const uint64_t bytes = piece.end - piece.begin;
        if (!list.displs.empty() && piece.origin == end) {
            list.bytes.back() += bytes;
        } else {
            list.displs.push_back(piece.origin);
            list.bytes.push_back(bytes);
        }
        end = displace(piece.origin, static_cast<int64_t>(bytes));
    }
    for (const uint64_t bytes : list.bytes) {
        list.common = std::gcd(list.common, bytes);
        list.uniform = list.uniform && bytes == list.bytes[0];
    }
    return list;
}

// Makes one level of words or segments from a whole subtree. The word is a power of two, so that
// kernels with narrower words, for unaligned buffers, divide it evenly.
ShapeLevel flattened(const Layout &layout, const Node &node, ListBuilder &lists) {
    const SegmentList list = segments_of(layout, node);
    ShapeLevel level;
    if (list.uniform) {
        level.kind = LevelKind::indexed_block;
        level.count = list.displs.size();
        level.each = list.bytes[0];
        return with_displacements(level, list.displs, lists);
    }
    const uint64_t word = std::min<uint64_t>(list.common & (~list.common + 1), vector_bytes);
    level.each = word;
    level.stride = static_cast<int64_t>(word);
    if (node.bytes / word <= max_words) {
        std::vector<int64_t> displs;
        displs.reserve(node.bytes / word);
        for (std::size_t i = 0; i < list.displs.size(); ++i)
            for (uint64_t at = 0; at < list.bytes[i]; at += word)
                displs.push_back(displace(list.displs[i], static_cast<int64_t>(at)));
        level.kind = LevelKind::indexed_block;
        level.count = displs.size();
        return with_displacements(level, displs, lists);
    }
    std::vector<uint64_t> first{0};
    for (const uint64_t bytes : list.bytes) first.push_back(first.back() + bytes / word);
    return with_runs(level, list.displs, first, lists);
}

uint64_t listed_entries(const Layout &layout) {
    uint64_t entries = 0;
    for (const Table &t : layout.tables) entries += t.displs.size();
    return entries;
}

bool can_flatten(const Layout &layout, const Node &node) {
    return !node.has_reference &&
           node.segments.count <= std::max(max_entries, 2 * listed_entries(layout)) &&
           node.bytes < max_positions;
}

// A caller's list below many levels: the levels become one list of the displacements at which the
// caller's list applies.
Shape shape_around_list(const Layout &layout, const Node &top, ListBuilder &lists) {
    const Node *list = &top;
    while (list->kind != NodeKind::by_reference) {
        if (list->kind == NodeKind::block || list->kind == NodeKind::structure) return {};
        list = &layout.nodes[list->child];
    }
    const Node &below = layout.nodes[list->child];
    const bool is_level =
        below.kind == NodeKind::strided && layout.nodes[below.child].kind == NodeKind::block;
    if (top.bytes / list->bytes > max_entries) return {};
    if (below.kind != NodeKind::block && !is_level && !can_flatten(layout, below)) return {};
    std::vector<int64_t> places;
    Walk walk(layout, top, 0, [](const Node &n) { return n.kind == NodeKind::by_reference; });
    walk.start(0, top.bytes);
    for (Piece piece; walk.next(piece);) places.push_back(piece.origin);
    ShapeLevel outer;
    outer.kind = LevelKind::indexed_block;
    outer.count = places.size();
    outer.each = list->bytes;
    Shape shape;
    shape.level[shape.levels++] = with_displacements(outer, places, lists);
    shape.level[shape.levels++] = level_of(layout, *list, lists);
    if (is_level)
        shape.level[shape.levels++] = level_of(layout, below, lists);
    else if (below.kind != NodeKind::block)
        shape.level[shape.levels++] = flattened(layout, below, lists);
    return shape;
}

} // namespace

Shape shape_of(const Layout &layout, const Node &top, bool open_ended, ListBuilder &lists) {
    // The nodes from the root to the block, or to a node with different children.
    std::vector<const Node *> chain;
    const Node *n = &top;
    for (;; n = &layout.nodes[n->child]) {
        if (n->kind == NodeKind::block || n->kind == NodeKind::structure || !fits(layout, *n))
            break;
        chain.push_back(n);
        if (chain.size() > max_levels) break;
    }
    const bool is_nest = n->kind == NodeKind::block && chain.size() <= max_levels;
    std::size_t kept = chain.size();
    if (!is_nest) {
        // Keeps as many levels as possible, so that their lists need not be repeated.
        kept = std::min<std::size_t>(kept, max_levels - 1);
        const Node &rest = kept < chain.size() ? *chain[kept] : *n;
        if (!can_flatten(layout, rest))
            return open_ended ? Shape{} : shape_around_list(layout, top, lists);
        chain.resize(kept + 1);
        chain[kept] = &rest;
    }
    Shape shape;
    for (std::size_t k = 0; k < kept; ++k)
        shape.level[shape.levels++] = level_of(layout, *chain[k], lists);
    if (!is_nest) shape.level[shape.levels++] = flattened(layout, *chain[kept], lists);
    return shape;
}

AlignedStoreList aligned_stores_of(const Layout &layout, const Node &top, const Shape &shape) {
    constexpr uint64_t max_segments = 1024, max_bytes = uint64_t{1} << 20;
    AlignedStoreList list;
    const Node *n = &top;
    // A strided node may also be the top of the subtree that the last level lists.
    const auto is_level = [&](unsigned k) {
        return k < shape.levels && shape.level[k].kind == LevelKind::strided;
    };
    for (; is_level(list.levels) && n->kind == NodeKind::strided; ++list.levels) {
        if (n->stride % max_store_bytes != 0) return {};
        n = &layout.nodes[n->child];
    }
    if (list.levels == 0 || n->has_reference || n->segments.count > max_segments ||
        n->bytes > max_bytes || n->low < INT32_MIN / 2 || n->high > INT32_MAX / 2)
        return {};
    const SegmentList segments = segments_of(layout, *n);
    for (std::size_t i = 0, position = 0; i < segments.displs.size(); ++i) {
        int64_t at = segments.displs[i];
        for (uint64_t left = segments.bytes[i]; left > 0;) {
            uint64_t bytes = max_store_bytes;
            while (bytes > left || at % static_cast<int64_t>(bytes) != 0) bytes /= 2;
            list.stores.push_back(
                {static_cast<int32_t>(at), static_cast<uint32_t>(position * 16 + bytes)});
            at += static_cast<int64_t>(bytes);
            position += bytes;
            left -= bytes;
        }
    }
    list.period = n->bytes;
    return list;
}

namespace {

InterpreterNode interpreter_node(const Layout &layout, const Node &n, ListBuilder &lists) {
    InterpreterNode p{};
    p.bytes = n.bytes;
    p.stride = static_cast<uint64_t>(n.stride);
    p.child = n.child;
    p.element = static_cast<uint32_t>(n.element);
    const bool has_table = n.kind == NodeKind::indexed_block || n.kind == NodeKind::indexed ||
                           n.kind == NodeKind::structure;
    if (has_table) p.displacements = lists.add(layout.tables[n.table].displs);
    if (n.kind == NodeKind::indexed || n.kind == NodeKind::structure) {
        const Table &t = layout.tables[n.table];
        p.granule = granule_for(t.first.back(), n.count);
        p.first = lists.add(t.first);
        p.starts = lists.add(starts_of(t.first, p.granule));
    }
    switch (n.kind) {
    case NodeKind::block: p.kind = interpreter_block; return p;
    case NodeKind::strided: p.kind = interpreter_strided; break;
    case NodeKind::indexed_block: p.kind = interpreter_indexed_block; break;
    case NodeKind::indexed: p.kind = interpreter_indexed; break;
    case NodeKind::by_reference: {
        const IndexList &list = layout.index_lists[n.table];
        p.kind = interpreter_by_reference;
        p.displacements = reinterpret_cast<uintptr_t>(list.indices);
        p.granule = index_kind(list.element);
        p.stride = static_cast<uint64_t>(list.unit);
        break;
    }
    case NodeKind::structure:
        p.kind = interpreter_structure;
        p.children = lists.add(layout.tables[n.table].children);
        return p;
    }
    p.each = make_wide_divisor(layout.nodes[n.child].bytes);
    return p;
}

// Only the lowest set bit matters, which is the same for a number and its negative.
uint64_t bits_of(const Layout &layout, const Node &n) {
    if (n.kind == NodeKind::block) return n.bytes;
    if (n.kind == NodeKind::by_reference)
        return static_cast<uint64_t>(layout.index_lists[n.table].unit);
    const bool steps = n.kind == NodeKind::strided || n.kind == NodeKind::indexed;
    uint64_t bits = steps ? static_cast<uint64_t>(n.stride) : 0;
    if (layout.moved_once) return layout.bits;
    if (n.kind != NodeKind::strided)
        for (const int64_t d : layout.tables[n.table].displs) bits |= static_cast<uint64_t>(d);
    return bits;
}

} // namespace

InterpreterLists make_interpreter_lists(const Layout &layout, const Node &top) {
    ListBuilder lists;
    std::vector<InterpreterNode> nodes;
    nodes.reserve(layout.nodes.size() + 1);
    for (const Node &n : layout.nodes) nodes.push_back(interpreter_node(layout, n, lists));
    nodes.push_back(interpreter_node(layout, top, lists));
    // The lists are made once for any number of repetitions. A block that is repeated without gaps
    // has no known end; the walk stops at the end of the range.
    if (top.kind == NodeKind::block) nodes.back().bytes = UINT64_MAX;
    InterpreterLists result;
    result.root = static_cast<uint32_t>(nodes.size() - 1);
    result.nodes = lists.add(nodes);
    result.bytes = lists.take();
    return result;
}

uint32_t common_word(const Layout &layout, const Node &top) {
    // If the top node has a list, it is the list of the layout's top node.
    const bool outside = top.kind == NodeKind::block || top.kind == NodeKind::strided;
    uint64_t bits = vector_bytes | (outside ? bits_of(layout, top) : 0);
    for (const Node &n : layout.nodes) bits |= bits_of(layout, n);
    return static_cast<uint32_t>(bits & (~bits + 1));
}

} // namespace ucd::gpu
