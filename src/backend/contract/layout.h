// The canonical layout, to which every description of a noncontiguous buffer is converted before
// data moves. It is a directed acyclic graph of nodes, immutable once built.
//
// A node describes a sequence of bytes in packed order. Its origin is its first packed byte, so two
// shapes that differ only in their position are one node; the parent or the Layout has the
// position. If displacements are read only when data moves, the first byte is unknown: the origin
// of such a node is where a displacement of 0 would place a child's.
//
// The structs are views: the frontend owns the arrays (its layout/owned_layout.h).
#pragma once

#include "element.h"
#include "span.h"

#include <cstdint>

namespace ucd {

using NodeId = uint32_t;

enum class NodeKind : uint8_t {
    block,         // `bytes` consecutive bytes
    strided,       // `count` equal children, `stride` bytes apart
    indexed_block, // `count` equal children, each at its own displacement
    indexed,       // `count` runs of children: each run has its own displacement and number of
                   // children, which are `stride` bytes apart
    structure,     // `count` different children, each at its own displacement
    by_reference,  // like indexed_block, but the displacements are read when data moves
};

// The maximal segments of a node: parts that are adjacent in memory and in packed order form one
// segment. The first and the last have members of their own, because they may be joined with a
// neighbouring node's.
struct Segments {
    uint64_t count = 0;
    uint64_t first_bytes = 0, last_bytes = 0; // both are the whole size if count is 1
    uint64_t inner_min = UINT64_MAX, inner_max = 0;
    int64_t last_end = 0; // displacement of the end of the last segment; the first begins at 0
};

struct Node {
    NodeKind kind = NodeKind::block;
    Element element = Element::none; // for blocks: the element of the bytes; none in layouts for
                                     // REPLACE
    // The node or one below it is by_reference. Its bounds and segments are then meaningless, and
    // only code that can read the list finds its displacements.
    bool has_reference = false;
    NodeId child = 0;   // except for blocks and structures
    uint32_t table = 0; // the index of its Table (indexed_block, indexed, structure) or of its
                        // IndexList (by_reference)
    uint64_t count = 1;
    int64_t stride = 0;
    uint64_t bytes = 0;        // size in the packed stream
    int64_t low = 0, high = 0; // the bytes touched: [low, high), relative to the origin
    Segments segments;
};

struct Table {
    Span<const int64_t> displs; // in bytes from the node's origin; displs[0] is 0
    // For indexed: the number of children before each run. For structure: the packed bytes before
    // each child. count + 1 entries.
    Span<const uint64_t> first;
    Span<const NodeId> children; // for structure
    // If entries differ in it: the number of segments that begin before entry i; count + 1 entries.
    // Else empty.
    Span<const uint64_t> segments_first;
    // For indexed with children that are contiguous blocks; optional: the displacements of equal
    // pieces, of one or more children, that make up all runs. It follows from the other lists, and
    // saves backends computing it.
    Span<const int64_t> pieces;
};

// Displacements in memory of the caller, of any kind. Their values are not known here.
struct IndexList {
    const void *indices = nullptr;
    Element element = Element::none; // int32, uint32, int64 or uint64
    // For uint32: no index has its highest bit set, so that they can be read as int32.
    bool small = false;
    int64_t unit = 1; // bytes; displacement i is index i times this, and wraps
    friend bool operator==(const IndexList &, const IndexList &) = default;
};

struct Layout {
    Span<const Node> nodes; // children precede their parents
    Span<const Table> tables;
    Span<const IndexList> index_lists;
    NodeId root = 0;
    int64_t start = 0;  // displacement of the root's origin from the buffer address
    uint32_t depth = 0; // the number of nodes on the longest path from the root to a block
    // Only for moves by devices, and of types that are moved for the first time: the top node is an
    // indexed_block of blocks, whose list is uploaded with the move and not kept for others.
    bool moved_once = false;
    uint64_t bits = 0; // if moved_once: those that are set in any displacement of the list
    bool empty() const { return nodes.empty(); }
    const Node &top() const { return nodes[root]; }
    bool has_reference() const { return !index_lists.empty(); }
};

// Adds and subtracts displacements, with wrap-around: absolute addresses are legal, and only sums
// in range are used.
inline int64_t displace(int64_t base, int64_t by) {
    return static_cast<int64_t>(static_cast<uint64_t>(base) + static_cast<uint64_t>(by));
}
inline int64_t displace(int64_t base, uint64_t times, int64_t stride) {
    return static_cast<int64_t>(static_cast<uint64_t>(base) +
                                times * static_cast<uint64_t>(stride));
}

inline int64_t step_between(int64_t from, int64_t to) {
    return static_cast<int64_t>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}

// Reads entry i of a list in memory that the calling code can access.
inline int64_t displacement_at(const IndexList &list, uint64_t i) {
    const auto times_unit = [&](auto index) {
        return displace(0, static_cast<uint64_t>(static_cast<int64_t>(index)), list.unit);
    };
    switch (list.element) {
    case Element::int32: return times_unit(static_cast<const int32_t *>(list.indices)[i]);
    case Element::uint32: return times_unit(static_cast<const uint32_t *>(list.indices)[i]);
    default: return times_unit(static_cast<const int64_t *>(list.indices)[i]); // or unsigned
    }
}

// Whether the last segment of a node is adjacent to the first one of the next node, `distance`
// bytes further on.
inline bool touches(const Segments &s, int64_t distance) {
    return s.last_end == distance;
}

// The segments of node a followed by node b, whose origin lies at `b_at`.
inline Segments concatenate(const Segments &a, const Segments &b, int64_t b_at) {
    Segments s;
    const bool merged = touches(a, b_at);
    s.count = a.count + b.count - merged;
    s.last_end = displace(b_at, b.last_end);
    s.inner_min = a.inner_min < b.inner_min ? a.inner_min : b.inner_min;
    s.inner_max = a.inner_max > b.inner_max ? a.inner_max : b.inner_max;
    const auto inner = [&s](uint64_t bytes) {
        if (bytes < s.inner_min) s.inner_min = bytes;
        if (bytes > s.inner_max) s.inner_max = bytes;
    };
    const uint64_t joined = a.last_bytes + b.first_bytes;
    s.first_bytes = merged && a.count == 1 ? joined : a.first_bytes;
    s.last_bytes = merged && b.count == 1 ? joined : b.last_bytes;
    if (merged) {
        if (a.count > 1 && b.count > 1) inner(joined);
    } else {
        if (a.count > 1) inner(a.last_bytes);
        if (b.count > 1) inner(b.first_bytes);
    }
    if (merged && a.count == 1 && b.count == 1) s.last_bytes = s.first_bytes = joined;
    return s;
}

// The segments of `count` copies of a node, `stride` bytes apart.
inline Segments repeat_segments(const Segments &one, uint64_t count, int64_t stride) {
    if (count == 1) return one;
    // Two seams produce every kind of segment; further copies only increase the count.
    Segments s = concatenate(one, one, stride);
    if (count == 2) return s;
    const bool merged = touches(one, stride);
    if (merged && one.count == 1) {
        s.first_bytes = s.last_bytes = one.first_bytes * count;
    } else {
        s = concatenate(s, one, displace(stride, stride));
        s.count = count * one.count - (merged ? count - 1 : 0);
    }
    s.last_end = displace(one.last_end, count - 1, stride);
    return s;
}

// Whether a copy of the node `distance` bytes further on continues the node's own stride.
inline bool continues_steps(const Node &strided, int64_t distance) {
    int64_t next;
    return !__builtin_mul_overflow(static_cast<int64_t>(strided.count), strided.stride, &next) &&
           next == distance;
}

// `count` copies of a node, `extent` bytes apart, as one node outside of Layout::nodes; `id` is the
// id of the given node. This adds the count of a call, which the layout does not know. Requires
// count >= 1, and that neither sizes nor displacements overflow.
inline Node repeat(const Node &node, NodeId id, uint64_t count, int64_t extent) {
    if (count == 1) return node;
    Node n = node;
    n.bytes = node.bytes * count;
    const int64_t shift = displace(0, count - 1, extent);
    n.low = displace(node.low, shift < 0 ? shift : 0);
    n.high = displace(node.high, shift > 0 ? shift : 0);
    n.segments = repeat_segments(node.segments, count, extent);
    const bool dense = node.kind == NodeKind::block && extent == static_cast<int64_t>(node.bytes);
    if (dense) return n;
    if (node.kind == NodeKind::strided && continues_steps(node, extent)) {
        n.count = node.count * count;
    } else {
        n.kind = NodeKind::strided;
        n.element = Element::none;
        n.child = id;
        n.count = count;
        n.stride = extent;
        n.table = 0;
    }
    return n;
}

} // namespace ucd
