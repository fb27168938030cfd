#include "shape.h"

#include "layout_walk.h"
#include "lists.h"

#include <numeric>

namespace ucd::UCD_GPU {
namespace {

// A list of segments or words in place of a subtree may have so many entries, or some times what the
// layout has in lists of its own.
constexpr uint64_t most_entries = uint64_t{1} << 16;
// Words are found faster than segments, while their list stays in a cache.
constexpr uint64_t most_words = uint64_t{1} << 16;

constexpr uint64_t most_positions = uint64_t{1} << 31;

ShapeLevel with_displacements(ShapeLevel level, const std::vector<int64_t> &displs, Image &image) {
    level.displacement_unit = unit_for(displs);
    if (level.displacement_unit == 0) {
        level.displacements = image.add(displs);
        return level;
    }
    std::vector<int32_t> narrow(displs.size());
    for (std::size_t i = 0; i < displs.size(); ++i)
        narrow[i] = static_cast<int32_t>(displs[i] / level.displacement_unit);
    level.displacements = image.add(narrow);
    return level;
}

ShapeLevel with_runs(ShapeLevel level, const std::vector<int64_t> &displs,
                     const std::vector<uint64_t> &first, Image &image) {
    level.kind = LevelKind::varying;
    level.count = first.back();
    level = with_displacements(level, displs, image);
    level.granule = granule_for(first.back(), displs.size());
    level.first = image.add(std::vector<uint32_t>(first.begin(), first.end()));
    level.starts = image.add(starts_of(first, level.granule));
    return level;
}

bool fits(const Layout &layout, const Node &n) {
    if (n.kind != NodeKind::runs) return true;
    return layout.tables[n.table].first[n.count] < most_positions;
}

// Runs of a few blocks: a list of all blocks takes no more memory than one of the runs with the means
// to find them.
bool is_short(const Layout &layout, const Node &n) {
    constexpr uint64_t few = 3;
    return layout.nodes[n.child].kind == NodeKind::block &&
           layout.tables[n.table].first[n.count] <= few * n.count;
}

ShapeLevel with_blocks(ShapeLevel level, const Table &runs, Image &image) {
    level.kind = LevelKind::uniform;
    std::vector<int64_t> displs;
    displs.reserve(runs.first.back());
    for (std::size_t run = 0; run < runs.displs.size(); ++run)
        for (uint64_t i = 0; i < runs.first[run + 1] - runs.first[run]; ++i)
            displs.push_back(displace(runs.displs[run], i, level.stride));
    level.count = displs.size();
    return with_displacements(level, displs, image);
}

ShapeLevel level_of(const Layout &layout, const Node &n, Image &image) {
    ShapeLevel level;
    level.count = n.count;
    level.each = layout.nodes[n.child].bytes;
    level.stride = n.stride;
    if (n.kind == NodeKind::strided) return level;
    const Table &t = layout.tables[n.table];
    if (n.kind == NodeKind::runs && is_short(layout, n)) return with_blocks(level, t, image);
    if (n.kind == NodeKind::runs) return with_runs(level, t.displs, t.first, image);
    level.kind = LevelKind::uniform;
    return with_displacements(level, t.displs, image);
}

// The maximal segments under a node, from its origin.
struct SegmentList {
    std::vector<int64_t> displs;
    std::vector<uint64_t> bytes;
    uint64_t common = 0; // divides all lengths
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

// A whole subtree as one level of words or segments. A word is a power of two, so that kernels with
// narrower words, for unaligned buffers, find whole ones in it.
ShapeLevel flattened(const Layout &layout, const Node &node, Image &image) {
    const SegmentList list = segments_of(layout, node);
    ShapeLevel level;
    if (list.uniform) {
        level.kind = LevelKind::uniform;
        level.count = list.displs.size();
        level.each = list.bytes[0];
        return with_displacements(level, list.displs, image);
    }
    const uint64_t word = std::min<uint64_t>(list.common & (~list.common + 1), vector_bytes);
    level.each = word;
    level.stride = static_cast<int64_t>(word);
    if (node.bytes / word <= most_words) {
        std::vector<int64_t> displs;
        displs.reserve(node.bytes / word);
        for (std::size_t i = 0; i < list.displs.size(); ++i)
            for (uint64_t at = 0; at < list.bytes[i]; at += word)
                displs.push_back(displace(list.displs[i], static_cast<int64_t>(at)));
        level.kind = LevelKind::uniform;
        level.count = displs.size();
        return with_displacements(level, displs, image);
    }
    std::vector<uint64_t> first{0};
    for (const uint64_t bytes : list.bytes) first.push_back(first.back() + bytes / word);
    return with_runs(level, list.displs, first, image);
}

uint64_t listed_entries(const Layout &layout) {
    uint64_t entries = 0;
    for (const Table &t : layout.tables) entries += t.displs.size();
    return entries;
}

bool can_flatten(const Layout &layout, const Node &node) {
    return node.segments.count <= std::max(most_entries, 2 * listed_entries(layout)) &&
           node.bytes < most_positions;
}

} // namespace

Shape shape_of(const Layout &layout, const Node &top, Image &image) {
    // From the root to the block, or to a node with different children.
    std::vector<const Node *> chain;
    const Node *n = &top;
    for (;; n = &layout.nodes[n->child]) {
        if (n->kind == NodeKind::block || n->kind == NodeKind::sequence || !fits(layout, *n)) break;
        chain.push_back(n);
        if (chain.size() > max_levels) break;
    }
    const bool is_nest = n->kind == NodeKind::block && chain.size() <= max_levels;
    std::size_t kept = chain.size();
    if (!is_nest) {
        // As many levels as possible stay: their lists need not be repeated.
        kept = std::min<std::size_t>(kept, max_levels - 1);
        const Node &rest = kept < chain.size() ? *chain[kept] : *n;
        if (!can_flatten(layout, rest)) return {};
        chain.resize(kept + 1);
        chain[kept] = &rest;
    }
    Shape shape;
    for (std::size_t k = 0; k < kept; ++k)
        shape.level[shape.levels++] = level_of(layout, *chain[k], image);
    if (!is_nest) shape.level[shape.levels++] = flattened(layout, *chain[kept], image);
    return shape;
}

PieceList pieces_of(const Layout &layout, const Node &top, const Shape &shape) {
    constexpr uint64_t most_segments = 1024, most_bytes = uint64_t{1} << 20;
    PieceList list;
    const Node *n = &top;
    // A strided node may also be the top of what is listed in the last level.
    const auto is_level = [&](unsigned k) {
        return k < shape.levels && shape.level[k].kind == LevelKind::strided;
    };
    for (; is_level(list.levels) && n->kind == NodeKind::strided; ++list.levels) {
        if (n->stride % piece_bytes != 0) return {};
        n = &layout.nodes[n->child];
    }
    if (list.levels == 0 || n->segments.count > most_segments || n->bytes > most_bytes ||
        n->low < INT32_MIN / 2 || n->high > INT32_MAX / 2)
        return {};
    const SegmentList segments = segments_of(layout, *n);
    for (std::size_t i = 0, position = 0; i < segments.displs.size(); ++i) {
        int64_t at = segments.displs[i];
        for (uint64_t left = segments.bytes[i]; left > 0;) {
            uint64_t bytes = piece_bytes;
            while (bytes > left || at % static_cast<int64_t>(bytes) != 0) bytes /= 2;
            list.pieces.push_back({static_cast<int32_t>(at),
                                   static_cast<uint32_t>(position * 16 + bytes)});
            at += static_cast<int64_t>(bytes);
            position += bytes;
            left -= bytes;
        }
    }
    list.period = n->bytes;
    return list;
}

namespace {

ProgramNode program_node(const Layout &layout, const Node &n, Image &image) {
    ProgramNode p{};
    p.bytes = n.bytes;
    p.stride = static_cast<uint64_t>(n.stride);
    p.child = n.child;
    p.element = static_cast<uint32_t>(n.element);
    const bool has_table = n.kind != NodeKind::block && n.kind != NodeKind::strided;
    if (has_table) p.displacements = image.add(layout.tables[n.table].displs);
    if (n.kind == NodeKind::runs || n.kind == NodeKind::sequence) {
        const Table &t = layout.tables[n.table];
        p.granule = granule_for(t.first.back(), n.count);
        p.first = image.add(t.first);
        p.starts = image.add(starts_of(t.first, p.granule));
    }
    switch (n.kind) {
    case NodeKind::block: p.kind = ProgramNode::block; return p;
    case NodeKind::strided: p.kind = ProgramNode::strided; break;
    case NodeKind::indexed: p.kind = ProgramNode::indexed; break;
    case NodeKind::runs: p.kind = ProgramNode::runs; break;
    case NodeKind::sequence:
        p.kind = ProgramNode::sequence;
        p.children = image.add(layout.tables[n.table].children);
        return p;
    }
    p.each = WideDivisor(layout.nodes[n.child].bytes);
    return p;
}

uint64_t magnitude(int64_t n) {
    return n < 0 ? ~static_cast<uint64_t>(n) + 1 : static_cast<uint64_t>(n);
}

uint64_t bits_of(const Layout &layout, const Node &n) {
    if (n.kind == NodeKind::block) return n.bytes;
    uint64_t bits = n.kind == NodeKind::strided || n.kind == NodeKind::runs ? magnitude(n.stride) : 0;
    if (n.kind != NodeKind::strided)
        for (const int64_t d : layout.tables[n.table].displs) bits |= magnitude(d);
    return bits;
}

} // namespace

void add_program(const Layout &layout, const Node &top, Image &image, uint64_t &program,
                 uint32_t &root) {
    std::vector<ProgramNode> nodes;
    nodes.reserve(layout.nodes.size() + 1);
    for (const Node &n : layout.nodes) nodes.push_back(program_node(layout, n, image));
    nodes.push_back(program_node(layout, top, image));
    root = static_cast<uint32_t>(nodes.size() - 1);
    program = image.add(nodes);
}

uint32_t common_word(const Layout &layout, const Node &top) {
    uint64_t bits = vector_bytes | bits_of(layout, top);
    for (const Node &n : layout.nodes) bits |= bits_of(layout, n);
    return static_cast<uint32_t>(bits & (~bits + 1));
}

} // namespace ucd::UCD_GPU
