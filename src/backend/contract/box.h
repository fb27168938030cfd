// Strided boxes: the form of data that copy engines, strided work requests and descriptor lists
// support.
#pragma once

#include "layout_walk.h"

#include <ucd.h>

#include <algorithm>
#include <iterator>

namespace ucd {

// Up to four strided levels over one block; ucd.h describes the members.
using Box = ucd_box_t;
inline constexpr uint32_t max_box_dims = std::size(Box{}.count);

// A box of consecutive bytes.
inline Box piece_box(int64_t start, uint64_t bytes, uint64_t offset) {
    Box box{};
    box.start = start;
    box.block = bytes;
    box.offset = offset;
    box.dims = 1;
    box.count[0] = 1;
    box.stride[0] = static_cast<int64_t>(bytes);
    return box;
}

inline bool is_piece(const Box &box) {
    return box.dims == 1 && box.count[0] == 1;
}

inline uint64_t bytes_of(const Box &box) {
    uint64_t bytes = box.block;
    for (uint32_t k = 0; k < box.dims; ++k) bytes *= box.count[k];
    return bytes;
}

// Repeats the box `count` times, `stride` bytes apart. Requires count > 1 and an unused level.
inline void repeat_box(Box &box, uint64_t count, int64_t stride) {
    if (!is_piece(box)) {
        std::copy_backward(box.count, box.count + box.dims, box.count + box.dims + 1);
        std::copy_backward(box.stride, box.stride + box.dims, box.stride + box.dims + 1);
        ++box.dims;
    }
    box.count[0] = count;
    box.stride[0] = stride;
}

// The box that the outermost level repeats, at its first position.
inline Box box_within(const Box &box) {
    if (box.dims == 1) return piece_box(box.start, box.block, box.offset);
    Box inner = box;
    std::copy(box.count + 1, box.count + box.dims, inner.count);
    std::copy(box.stride + 1, box.stride + box.dims, inner.stride);
    --inner.dims;
    inner.count[inner.dims] = 0;
    inner.stride[inner.dims] = 0;
    return inner;
}

// The most boxes that a box is cut into.
inline constexpr uint32_t max_cuts = 2 * max_box_dims + 1;

// Cuts a box: its packed bytes [begin, end), counted from its own first one. Calls store(box) for
// the part of the first child, for the whole children, and for the part of the last child; at most
// max_cuts times.
template <class Store>
void cut_box(const Box &box, uint64_t begin, uint64_t end, Store &store) {
    if (is_piece(box)) {
        store(piece_box(displace(box.start, static_cast<int64_t>(begin)), end - begin,
                        box.offset + begin));
        return;
    }
    const Box child = box_within(box);
    const uint64_t each = bytes_of(child);
    const auto child_at = [&](uint64_t index) {
        Box moved = child;
        moved.start = displace(box.start, index, box.stride[0]);
        moved.offset += index * each;
        return moved;
    };
    const uint64_t first = (begin + each - 1) / each, last = end / each;
    if (first > last) return cut_box(child_at(last), begin - last * each, end - last * each, store);
    if (begin < first * each) cut_box(child_at(first - 1), begin - (first - 1) * each, each, store);
    if (last > first) {
        Box whole = child_at(first);
        if (last - first > 1) repeat_box(whole, last - first, box.stride[0]);
        store(whole);
    }
    if (last * each < end) cut_box(child_at(last), 0, end - last * each, store);
}

// The number of strided levels of a node that consists of strided levels over one block; `no_box`
// for all other nodes, and if a box cannot have so many levels.
inline constexpr uint32_t no_box = max_box_dims + 1;

inline uint32_t box_levels(const Layout &layout, const Node &node) {
    const Node *n = &node;
    uint32_t levels = 0;
    for (; n->kind == NodeKind::strided; n = &layout.nodes[n->child])
        if (++levels > max_box_dims) return no_box;
    return n->kind == NodeKind::block ? levels : no_box;
}

// The box of a node of this kind, at `start`.
inline Box box_of(const Layout &layout, const Node &node, int64_t start, uint64_t offset) {
    Box box{};
    const Node *n = &node;
    for (; n->kind == NodeKind::strided; n = &layout.nodes[n->child]) {
        box.count[box.dims] = n->count;
        box.stride[box.dims++] = n->stride;
    }
    if (box.dims == 0) return piece_box(start, n->bytes, offset);
    box.start = start;
    box.block = n->bytes;
    box.offset = offset;
    return box;
}

// A list whose entries are boxes. Entries of the same shape at equal distances are joined to one
// box, greedily from the first entry on.
class BoxList {
public:
    static bool is(const Layout &layout, const Node &node) {
        return (node.kind == NodeKind::indexed_block || node.kind == NodeKind::indexed) &&
               box_levels(layout, layout.nodes[node.child]) < max_box_dims;
    }

    BoxList(const Layout &layout, const Node &node)
        : layout_(layout), node_(node), child_(layout.nodes[node.child]),
          table_(layout.tables[node.table]), levels_(box_levels(layout, child_)),
          dense_(levels_ == 0 && node.stride == static_cast<int64_t>(child_.bytes)) {}

    uint64_t entries() const { return node_.count; }
    uint64_t packed(uint64_t entry) const {
        return (is_indexed() ? table_.first[entry] : entry) * child_.bytes;
    }
    uint64_t entry_at(uint64_t position) const;

    // Whether `entry` continues the box that begins with entry `first`, if all entries between do.
    bool continues(uint64_t first, uint64_t entry) const {
        if (children(entry) != children(first)) return false;
        return entry == first + 1 ? has_level_to_spare(first) : step(entry) == step(first + 1);
    }

    // The box of the entries [first, end), for a list at `origin`.
    Box box(uint64_t first, uint64_t end, int64_t origin, uint64_t offset) const {
        const uint64_t times = children(first);
        Box box =
            box_of(layout_, child_, displace(origin, displacement(first)), offset + packed(first));
        if (dense_)
            box = piece_box(box.start, times * child_.bytes, box.offset);
        else if (times > 1)
            repeat_box(box, times, node_.stride);
        if (end - first > 1) repeat_box(box, end - first, step(first + 1));
        return box;
    }

private:
    bool is_indexed() const { return node_.kind == NodeKind::indexed; }
    int64_t displacement(uint64_t entry) const { return table_.displs[entry]; }
    uint64_t children(uint64_t entry) const {
        return is_indexed() ? table_.first[entry + 1] - table_.first[entry] : 1;
    }
    int64_t step(uint64_t entry) const {
        return static_cast<int64_t>(static_cast<uint64_t>(displacement(entry)) -
                                    static_cast<uint64_t>(displacement(entry - 1)));
    }
    bool has_level_to_spare(uint64_t entry) const {
        return levels_ + 1 < max_box_dims || children(entry) == 1;
    }

    const Layout &layout_;
    const Node &node_;
    const Node &child_;
    const Table &table_;
    uint32_t levels_;
    bool dense_; // children of an entry are contiguous, so the entry is one piece
};

inline uint64_t BoxList::entry_at(uint64_t position) const {
    const uint64_t child = position / child_.bytes;
    return is_indexed() ? entry_holding(table_.first, child) : child;
}

} // namespace ucd
