// A range of a packed stream that UCX packs or unpacks while it moves it, fragment by fragment: a
// generic UCP datatype whose buffer is a StreamRange.
#pragma once

#include "datatype/segment_cursor.h"
#include "datatype/typed_buffer.h"

namespace ucd_ucx {

struct StreamRange {
    StreamRange() = default;
    StreamRange(const TypedBuffer &of, uint64_t from, uint64_t length)
        : buffer(&of), cursor(SegmentCursor::make(of)), offset(from), bytes(length) {}

    const TypedBuffer *buffer = nullptr; // null: there is no such range
    std::unique_ptr<SegmentCursor> cursor;
    uint64_t offset = 0, bytes = 0;
    int failure = UCD_SUCCESS; // the status of packing or unpacking
};

extern const ucp_generic_dt_ops_t stream_range_callbacks;

} // namespace ucd_ucx
