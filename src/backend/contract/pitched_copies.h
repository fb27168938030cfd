// Splits boxes into copies of rows in planes, which copy engines support.
#pragma once

#include "boxes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ucd {

// The limits of one copy: CUDA has strides of up to 2^31 - 1 bytes, and drivers of several vendors
// count rows and planes in 31 or 32 bits.
inline constexpr int64_t max_row_stride = INT32_MAX;
inline constexpr uint64_t max_rows = INT32_MAX; // of a plane, and from one plane to the next
inline constexpr uint64_t max_planes = INT32_MAX;

// Whether rows at this distance can be rows of one copy: their addresses ascend, and they do not
// overlap.
inline bool are_rows(uint64_t row, int64_t row_stride) {
    return row_stride >= static_cast<int64_t>(row) && row_stride <= max_row_stride;
}

// Whether planes of such rows at this distance can be planes of one copy.
inline bool are_planes(uint64_t rows, int64_t row_stride, int64_t plane_stride) {
    const int64_t rows_apart = plane_stride / row_stride;
    return plane_stride % row_stride == 0 && rows_apart >= static_cast<int64_t>(rows) &&
           rows_apart <= static_cast<int64_t>(max_rows);
}

// Rows of bytes in planes, which CUDA and HIP copy in one call. A single row is consecutive bytes.
struct PitchedCopy {
    int64_t start = 0; // displacement of the first byte
    uint64_t row = 0;  // in bytes
    uint64_t rows = 1, planes = 1;
    int64_t row_stride = 0, plane_stride = 0; // if there are several rows, or planes
    uint64_t bytes() const { return row * rows * planes; }
};

// The number of a box's innermost levels that one copy covers: 0, 1 or 2.
inline uint32_t pitched_levels(const Box &box) {
    if (is_piece(box)) return 0;
    const uint32_t row = box.dims - 1;
    if (!are_rows(box.block, box.stride[row])) return 0;
    if (row == 0) return 1;
    return are_planes(box.count[row], box.stride[row], box.stride[row - 1]) ? 2 : 1;
}

// Calls visit(part) for parts of the copy that have no more rows, and no more planes, than one may
// have.
template <class Visit>
bool for_each_part(const PitchedCopy &copy, Visit &visit) {
    if (copy.rows <= max_rows && copy.planes <= max_planes) return visit(copy);
    // See are_planes(): planes have no more rows than a copy may have.
    const bool by_planes = copy.planes > 1;
    const uint64_t count = by_planes ? copy.planes : copy.rows;
    const uint64_t most = by_planes ? max_planes : max_rows;
    PitchedCopy part = copy;
    uint64_t &in_part = by_planes ? part.planes : part.rows;
    for (uint64_t done = 0; done < count; done += in_part) {
        part.start = displace(copy.start, done, by_planes ? copy.plane_stride : copy.row_stride);
        in_part = std::min(count - done, most);
        if (!visit(part)) return false;
    }
    return true;
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
        if (!for_each_part(copy, visit)) return false;
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
