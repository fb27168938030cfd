// What a copy engine takes as one job.
#pragma once

#include "layout_walk.h"

namespace ucd {

// Rows of bytes in planes. One row is consecutive bytes.
struct Box {
    int64_t start = 0; // displacement of the first byte
    uint64_t row = 0;  // bytes
    uint64_t rows = 1, planes = 1;
    int64_t row_stride = 0, plane_stride = 0; // where there are several
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

// Whether those bytes are a box whose rows follow each other upwards without overlapping, a plane a
// whole number of row strides after the one before: the form that CUDA and HIP copy in one call.
inline bool is_box(const Layout &layout, const Node &top, uint64_t offset, uint64_t length,
                   Box &box) {
    constexpr int64_t longest_stride = INT32_MAX;
    box = {};
    if (is_consecutive(layout, top, offset, length, box.start)) {
        box.row = length;
        return true;
    }
    const Node *planes = nullptr, *rows = &top;
    if (rows->kind != NodeKind::strided) return false;
    if (const Node &child = layout.nodes[rows->child]; child.kind == NodeKind::strided) {
        planes = rows;
        rows = &child;
    }
    const Node &block = layout.nodes[rows->child];
    if (block.kind != NodeKind::block) return false;
    box.row = block.bytes;
    box.row_stride = rows->stride;
    if (box.row_stride < static_cast<int64_t>(box.row) || box.row_stride > longest_stride ||
        offset % box.row != 0 || length % box.row != 0)
        return false;
    const uint64_t first = offset / box.row;
    box.rows = length / box.row;
    box.start = layout.start;
    if (planes == nullptr) {
        box.start = displace(box.start, first, box.row_stride);
        return true;
    }
    const uint64_t plane = first / rows->count, first_in_plane = first % rows->count;
    box.start =
        displace(displace(box.start, plane, planes->stride), first_in_plane, box.row_stride);
    if (first_in_plane + box.rows <= rows->count) return true;
    if (first_in_plane != 0 || box.rows % rows->count != 0) return false;
    box.planes = box.rows / rows->count;
    box.rows = rows->count;
    box.plane_stride = planes->stride;
    return box.plane_stride % box.row_stride == 0 &&
           box.plane_stride / box.row_stride >= static_cast<int64_t>(box.rows);
}

} // namespace ucd
