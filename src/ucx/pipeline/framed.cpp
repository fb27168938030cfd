#include "pipeline/framed.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace ucd_ucx {
namespace {

void *start_packing_frame(void *, const void *frame, std::size_t) {
    return const_cast<void *>(frame);
}

void *start_unpacking_frame(void *, void *frame, std::size_t) {
    return frame;
}

// UCX asks for the size of what is sent, and for the room for what is received. A receive has room
// for any size: the header says how much is coming, and unpack drops what does not fit.
std::size_t frame_size(void *state) {
    const auto *frame = static_cast<Frame *>(state);
    return frame->direction == TransferDirection::send ? frame->prefix + frame->header.total
                                                       : SIZE_MAX / 2;
}

std::size_t pack_frame(void *state, std::size_t offset, void *to_argument, std::size_t room) {
    auto *frame = static_cast<Frame *>(state);
    auto *to = static_cast<char *>(to_argument);
    const std::size_t length = std::min(room, frame_size(state) - offset);
    std::size_t done = 0;
    if (offset < frame->prefix) {
        done = std::min(length, frame->prefix - offset);
        std::memcpy(to, reinterpret_cast<const char *>(&frame->header) + offset, done);
    }
    if (done == length) return length;
    const uint64_t at = offset + done - frame->prefix;
    const Status status = frame->cursor != nullptr
                              ? frame->cursor->pack(at, to + done, length - done)
                              : frame->buffer->pack(at, to + done, length - done, nullptr);
    if (!status.ok()) {
        frame->failure = status.code();
        std::memset(to + done, 0, length - done);
    }
    return length;
}

ucs_status_t unpack_frame(void *state, std::size_t offset, const void *from_argument,
                          std::size_t length) {
    auto *frame = static_cast<Frame *>(state);
    const auto *from = static_cast<const char *>(from_argument);
    std::size_t done = 0;
    if (offset < frame->prefix) {
        done = std::min(length, frame->prefix - offset);
        std::memcpy(reinterpret_cast<char *>(&frame->header) + offset, from, done);
        if (offset + done == frame->prefix)
            frame->has_header.store(true, std::memory_order_release);
    }
    if (done == length) return UCS_OK;
    if (frame->drops_data.load(std::memory_order_acquire)) {
        frame->has_dropped = true;
        return UCS_OK;
    }
    const uint64_t at = offset + done - frame->prefix;
    if (at >= frame->buffer->bytes()) return UCS_OK;
    const std::size_t bytes = std::min<std::size_t>(length - done, frame->buffer->bytes() - at);
    if (!frame->buffer->on_host() && !frame->began_unpacking && done == frame->prefix)
        // bounded: by the receive's own length
        frame->gathered.reset(
            new (std::nothrow) char[frame->buffer->bytes_of(frame->header.total)]);
    frame->began_unpacking = true;
    if (frame->gathered != nullptr) {
        // A false total is found later by the message's length, and then this data is not used.
        const uint64_t room = frame->buffer->bytes_of(frame->header.total);
        if (at < room)
            std::memcpy(frame->gathered.get() + at, from + done,
                        std::min<uint64_t>(bytes, room - at));
        return UCS_OK;
    }
    const Status status = frame->cursor != nullptr
                              ? frame->cursor->unpack(at, from + done, bytes)
                              : frame->buffer->unpack(at, from + done, bytes, nullptr);
    if (!status.ok()) frame->failure = status.code();
    return UCS_OK;
}

void finish_frame(void *) {}

} // namespace

const ucp_generic_dt_ops_t frame_callbacks = {
    .start_pack = start_packing_frame,
    .start_unpack = start_unpacking_frame,
    .packed_size = frame_size,
    .pack = pack_frame,
    .unpack = unpack_frame,
    .finish = finish_frame,
};

} // namespace ucd_ucx
