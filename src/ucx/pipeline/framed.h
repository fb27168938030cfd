// A header and a range of a packed stream in one message, without an intermediate buffer: a generic
// UCP datatype whose buffer is a FramedRange. UCX packs or unpacks it while it moves it, fragment
// by fragment.
#pragma once

#include "datatype/segment_cursor.h"
#include "datatype/typed_buffer.h"
#include "pipeline/message.h"

#include <atomic>
#include <memory>

namespace ucd_ucx {

// What the receive of a tagged message needs in addition. Its header says how much is coming.
struct FramedArrival {
    // Data for a device's memory, gathered to be unpacked all at once, because each fragment would
    // wait for the device. Null if the header did not arrive first, since the size is then unknown.
    std::unique_ptr<char[]> gathered;
    bool has_begun = false; // to unpack, or to gather

    // The header has come, and the data in further fragments, unless the header's had it.
    std::atomic<bool> has_header = false;
    // The receive is cancelled: what data still comes is dropped.
    std::atomic<bool> drops_data = false;
    bool has_dropped = false;
};

struct FramedRange {
    FramedRange() = default;
    FramedRange(const TypedBuffer &of, uint64_t from, uint64_t length)
        : buffer(&of), cursor(SegmentCursor::make(of)), offset(from), bytes(length) {}

    // The bytes of a message, without what is behind a receive's buffer, which is dropped.
    static constexpr uint64_t any_length = UINT64_MAX / 2;
    Status pack(uint64_t at, char *to, uint64_t length);
    Status unpack(uint64_t at, const char *from, uint64_t length);
    // performance only: without a cursor, each fragment's place is looked for. Shorter messages are
    // one fragment or a few.
    void read_ahead() {
        if (buffer->bytes() >= 16 << 10) cursor = SegmentCursor::make(*buffer);
    }

    const TypedBuffer *buffer = nullptr;   // null: there is no such range
    std::unique_ptr<SegmentCursor> cursor; // for long segments; else null
    uint64_t offset = 0, bytes = 0;        // of the packed stream
    MessageHeader *header = nullptr;       // to send, or room for the received one
    std::size_t prefix = 0;                // bytes of the header; 0: it is sent by other means
    FramedArrival *arrival = nullptr;      // null: not of a tagged message
    int failure = UCD_SUCCESS;             // the status of packing or unpacking
};

extern const ucp_generic_dt_ops_t framed_callbacks;

} // namespace ucd_ucx
