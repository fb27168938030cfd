// A header and a packed stream in one message, without an intermediate buffer: a generic UCP
// datatype whose buffer is a Frame.
#pragma once

#include "datatype/segment_cursor.h"
#include "datatype/typed_buffer.h"
#include "pipeline/message.h"

#include <atomic>
#include <memory>

namespace ucd_ucx {

struct Frame {
    const TypedBuffer *buffer = nullptr;
    MessageHeader header; // the header to send, or room for the received one
    TransferDirection direction = TransferDirection::send;
    std::size_t prefix = sizeof(MessageHeader); // 0: the header is sent by other means
    int failure = UCD_SUCCESS;                  // the status of packing or unpacking
    std::unique_ptr<SegmentCursor> cursor;      // for long segments; else null

    // Data for a device's memory, gathered to be unpacked all at once, because each fragment would
    // wait for the device. Null if the header did not arrive first, since the size is then unknown.
    std::unique_ptr<char[]> gathered;
    bool began_unpacking = false;

    // Of a receive: its header has come, and its data in further fragments, unless it had one.
    std::atomic<bool> has_header = false;
    // Of a receive that is cancelled: what data still comes is dropped.
    std::atomic<bool> drops_data = false;
    bool has_dropped = false;
};

// Shorter messages are one fragment or a few.
inline constexpr uint64_t least_for_cursor = 16 << 10;

extern const ucp_generic_dt_ops_t frame_callbacks;

} // namespace ucd_ucx
