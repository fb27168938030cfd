// Splits boxes into copies of rows in planes, which copy engines support.
#pragma once

#include "boxes.h"

#include <cstddef>

namespace ucd {

// Rows of bytes in planes, which CUDA and HIP copy in one call. The rows of a plane have ascending
// addresses and do not overlap, and the distance of planes is a multiple of the row stride. A
// single row is consecutive bytes.
struct PitchedCopy {
    int64_t start = 0; // displacement of the first byte
    uint64_t row = 0;  // in bytes
    uint64_t rows = 1, planes = 1;
    int64_t row_stride = 0, plane_stride = 0; // if there are several rows, or planes
    uint64_t bytes() const { return row * rows * planes; }
};

// The number of a box's innermost levels that one copy covers: 0, 1 or 2.
inline uint32_t pitched_levels(const Box &box) {
    constexpr int64_t longest_stride = INT32_MAX;
    if (is_piece(box)) return 0;
    const uint32_t row = box.dims - 1;
    if (box.stride[row] < static_cast<int64_t>(box.block) || box.stride[row] > longest_stride)
        return 0;
    if (row == 0) return 1;
    const int64_t plane = box.stride[row - 1], step = box.stride[row];
    const bool planes = plane % step == 0 && plane / step >= static_cast<int64_t>(box.count[row]);
    return planes ? 2 : 1;
}

// Calls visit(copy) for each copy of a box, in packed order. Stops and returns false if visit does.
// Each copy covers the innermost `levels` levels.
template <class Visit>
bool for_each_copy(const Box &box, uint32_t levels, Visit &visit) {
    PitchedCopy copy;
    copy.row = box.block;
    if (levels > 0) {
        copy.rows = box.count[box.dims - 1];
        copy.row_stride = box.stride[box.dims - 1];
    }
    if (levels > 1) {
        copy.planes = box.count[box.dims - 2];
        copy.plane_stride = box.stride[box.dims - 2];
    }
    const uint32_t outer = box.dims - levels;
    uint64_t index[max_box_dims] = {};
    for (;;) {
        copy.start = box.start;
        for (uint32_t k = 0; k < outer; ++k)
            copy.start = displace(copy.start, index[k], box.stride[k]);
        if (!visit(copy)) return false;
        uint32_t k = outer;
        while (k > 0 && ++index[k - 1] == box.count[k - 1]) index[--k] = 0;
        if (k == 0) return true;
    }
}

// Same, for the packed bytes [offset, offset + length) of `boxes`. If there are many small boxes,
// such as the pairs in an irregular list, they are copied row by row: one call of the driver copies
// many rows, but only one box.
template <class Visit>
bool for_each_copy(Boxes &boxes, uint64_t offset, uint64_t length, Visit visit) {
    constexpr uint64_t few_rows = 8;
    boxes.start(offset, length);
    for (Box box; boxes.next(box);) {
        const bool small = bytes_of(box) / box.block <= few_rows && bytes_of(box) < length;
        if (!for_each_copy(box, small ? 0 : pitched_levels(box), visit)) return false;
    }
    return true;
}

// Whether the whole range is a single copy, which is then in `copy`.
inline bool is_one_copy(Boxes &boxes, uint64_t offset, uint64_t length, PitchedCopy &copy) {
    boxes.start(offset, length);
    Box box;
    if (!boxes.next(box) || bytes_of(box) < length) return false;
    const auto first = [&copy](const PitchedCopy &c) {
        copy = c;
        return false;
    };
    (void)for_each_copy(box, pitched_levels(box), first);
    return copy.bytes() == length;
}

// The limit on the copies of one range.
inline constexpr std::size_t max_copies = 4096;

// Whether a range consists of at most `most` copies.
inline bool has_at_most(Boxes &boxes, uint64_t offset, uint64_t length, std::size_t most) {
    return for_each_copy(boxes, offset, length,
                         [&most](const PitchedCopy &) { return most-- > 0; });
}

} // namespace ucd
