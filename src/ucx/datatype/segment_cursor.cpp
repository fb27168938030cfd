#include "datatype/segment_cursor.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace ucd_ucx {

std::unique_ptr<SegmentCursor> SegmentCursor::make(const TypedBuffer &buffer) noexcept {
    // performance only: the same bytes are moved either way
    const bool pays = buffer.on_host() && buffer.op() == UCD_OP__REPLACE &&
                      buffer.mean_segment() >= least_segment;
    return std::unique_ptr<SegmentCursor>(pays ? new (std::nothrow) SegmentCursor(buffer)
                                               : nullptr);
}

Status SegmentCursor::list(uint64_t offset) {
    uintptr_t listed, bytes;
    at_ = end_ = 0;
    UCD_TRY(ucd_ok(ucd_iov_bytes(buffer_.buf(), buffer_.count(), buffer_.type(), offset,
                                 buffer_.bytes() - offset, segments_.data(), segments_.size(),
                                 &listed, &bytes)));
    end_ = listed;
    next_ = offset;
    return success;
}

Status SegmentCursor::move(uint64_t offset, char *packed, uint64_t bytes,
                           TransferDirection direction) {
    for (uint64_t done = 0; done < bytes;) {
        if (at_ == end_ || next_ != offset + done) UCD_TRY(list(offset + done));
        if (at_ == end_) return fail(UCD_ERR__INVALID_ARG, "a fragment lies beyond the data");
        iovec &segment = segments_[at_];
        const uint64_t some = std::min<uint64_t>(bytes - done, segment.iov_len);
        if (direction == TransferDirection::send)
            std::memcpy(packed + done, segment.iov_base, some);
        else
            std::memcpy(segment.iov_base, packed + done, some);
        segment.iov_base = static_cast<char *>(segment.iov_base) + some;
        segment.iov_len -= some;
        if (segment.iov_len == 0) ++at_;
        done += some;
        next_ += some;
    }
    return success;
}

} // namespace ucd_ucx
