// What copy engines take: a range of a layout as boxes.
#pragma once

#include "layout_walk.h"

#include <vector>

namespace ucd {

// Rows of bytes in planes, the form that CUDA and HIP copy in one call: rows follow each other
// upwards without overlapping, a plane a whole number of row strides after the one before. One row
// is consecutive bytes.
struct Box {
    int64_t start = 0; // displacement of the first byte
    uint64_t row = 0;  // bytes
    uint64_t rows = 1, planes = 1;
    int64_t row_stride = 0, plane_stride = 0; // where there are several
    uint64_t bytes() const { return row * rows * planes; }
};

// Whether the bytes [offset, offset + length) of a packed stream are consecutive in memory too;
// `first` is then the displacement of the first one.
inline bool is_consecutive(const Layout &layout, const Node &top, uint64_t offset, uint64_t length,
                           int64_t &first) {
    Walk walk(layout, top, layout.start, is_block);
    walk.start(offset, length);
    int64_t next = 0;
    bool begun = false;
    for (Piece piece; walk.next(piece);) {
        const int64_t at = displace(piece.origin, static_cast<int64_t>(piece.begin));
        if (begun && at != next) return false;
        if (!begun) first = at;
        begun = true;
        next = displace(at, static_cast<int64_t>(piece.end - piece.begin));
    }
    return true;
}

// Whether all of the node is a box of rows, or of planes of them.
inline bool is_of_rows(const Layout &layout, const Node &node) {
    constexpr int64_t longest_stride = INT32_MAX;
    if (node.kind != NodeKind::strided) return false;
    const Node &block = layout.nodes[node.child];
    return block.kind == NodeKind::block && node.stride >= static_cast<int64_t>(block.bytes) &&
           node.stride <= longest_stride;
}
inline bool is_of_planes(const Layout &layout, const Node &node) {
    if (node.kind != NodeKind::strided) return false;
    const Node &rows = layout.nodes[node.child];
    return is_of_rows(layout, rows) && node.stride % rows.stride == 0 &&
           node.stride / rows.stride >= static_cast<int64_t>(rows.count);
}

// Runs each of which is consecutive bytes.
inline bool is_of_touching_runs(const Layout &layout, const Node &node) {
    if (node.kind != NodeKind::indexed) return false;
    const Node &block = layout.nodes[node.child];
    return block.kind == NodeKind::block && node.stride == static_cast<int64_t>(block.bytes);
}

// The boxes of a range, in packed order.
class Boxes {
public:
    Boxes(const Layout &layout, std::vector<Box> &boxes) : layout_(layout), boxes_(boxes) {}

    // False if there are more than `most`.
    bool list(const Node &top, uint64_t offset, uint64_t length, std::size_t most) {
        boxes_.clear();
        const auto is_box = [this](const Node &n) {
            return is_block(n) || is_of_rows(layout_, n) || is_of_planes(layout_, n) ||
                   is_of_touching_runs(layout_, n);
        };
        Walk walk(layout_, top, layout_.start, is_box);
        walk.start(offset, length);
        for (Piece piece; walk.next(piece);) {
            if (piece.node->kind == NodeKind::indexed)
                add_runs(*piece.node, piece.origin, piece.begin, piece.end, most);
            else
                add(*piece.node, piece.origin, piece.begin, piece.end);
            if (boxes_.size() > most) return false;
        }
        return true;
    }

private:
    // Bytes [begin, end) of a box: up to where its children begin, those that are whole, and the
    // rest.
    void add(const Node &node, int64_t origin, uint64_t begin, uint64_t end) {
        if (is_block(node))
            return add_row(displace(origin, static_cast<int64_t>(begin)), end - begin);
        const Node &child = layout_.nodes[node.child];
        const auto add_in_child = [&](uint64_t from, uint64_t to) {
            const uint64_t index = from / child.bytes, before = index * child.bytes;
            add(child, displace(origin, index, node.stride), from - before, to - before);
        };
        const uint64_t first = (begin + child.bytes - 1) / child.bytes, last = end / child.bytes;
        if (first > last) return add_in_child(begin, end);
        if (begin < first * child.bytes) add_in_child(begin, first * child.bytes);
        if (last - first == 1)
            add_in_child(first * child.bytes, last * child.bytes);
        else if (last > first)
            add_whole(node, displace(origin, first, node.stride), last - first);
        if (last * child.bytes < end) add_in_child(last * child.bytes, end);
    }

    // Until there are more than `most`.
    void add_runs(const Node &node, int64_t origin, uint64_t begin, uint64_t end,
                  std::size_t most) {
        const Table &table = layout_.tables[node.table];
        const uint64_t each = layout_.nodes[node.child].bytes;
        for (uint64_t run = entry_holding(table.first, begin / each);
             begin < end && boxes_.size() <= most; ++run) {
            const uint64_t first = table.first[run] * each;
            const uint64_t last = std::min(table.first[run + 1] * each, end);
            add_row(
                displace(displace(origin, table.displs[run]), static_cast<int64_t>(begin - first)),
                last - begin);
            begin = last;
        }
    }

    void add_whole(const Node &node, int64_t origin, uint64_t children) {
        const Node &child = layout_.nodes[node.child];
        Box &box = boxes_.emplace_back();
        box.start = origin;
        if (is_block(child)) {
            box.row = child.bytes;
            box.rows = children;
            box.row_stride = node.stride;
        } else {
            box.row = layout_.nodes[child.child].bytes;
            box.rows = child.count;
            box.row_stride = child.stride;
            box.planes = children;
            box.plane_stride = node.stride;
        }
    }

    void add_row(int64_t at, uint64_t bytes) {
        if (!boxes_.empty()) {
            Box &last = boxes_.back();
            if (last.rows * last.planes == 1 &&
                displace(last.start, static_cast<int64_t>(last.row)) == at) {
                last.row += bytes;
                return;
            }
        }
        Box &box = boxes_.emplace_back();
        box.start = at;
        box.row = bytes;
    }

    const Layout &layout_;
    std::vector<Box> &boxes_;
};

// The most that one range may consist of for copy engines: each is a call.
inline constexpr std::size_t max_boxes = 4096;

} // namespace ucd
