// Packs and unpacks long segments of host memory in the order of the packed stream, one fragment
// after the other. It lists some segments ahead, and so does not look for its place in the layout
// each time.
#pragma once

#include "datatype/typed_buffer.h"

#include <array>
#include <cstdint>
#include <memory>
#include <sys/uio.h>

namespace ucd_ucx {

class SegmentCursor {
public:
    // Null if the buffer's segments are too short for it to pay, by measurement
    // (docs/internals/decisions/ucx.md), or if there is no memory: then the buffer itself packs as
    // well. The buffer outlives it.
    static std::unique_ptr<SegmentCursor> make(const TypedBuffer &buffer) noexcept;
    explicit SegmentCursor(const TypedBuffer &buffer) : buffer_(buffer) {}

    Status pack(uint64_t offset, char *to, uint64_t bytes) {
        return move(offset, to, bytes, TransferDirection::send);
    }
    Status unpack(uint64_t offset, const char *from, uint64_t bytes) {
        return move(offset, const_cast<char *>(from), bytes, TransferDirection::receive);
    }

private:
    static constexpr uint64_t least_segment = 2 << 10;
    Status list(uint64_t offset);
    Status move(uint64_t offset, char *packed, uint64_t bytes, TransferDirection direction);

    const TypedBuffer &buffer_;
    std::array<iovec, 32> segments_;
    std::size_t at_ = 0, end_ = 0; // the rest of the list
    uint64_t next_ = 0;            // where it begins in the stream
};

} // namespace ucd_ucx
