#include "pipeline/framed.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace ucd_ucx {

Status FramedRange::pack(uint64_t at, char *to, uint64_t length) {
    return cursor != nullptr ? cursor->pack(at, to, length) : buffer->pack(at, to, length, nullptr);
}

Status FramedRange::unpack(uint64_t at, const char *from, uint64_t length) {
    return cursor != nullptr ? cursor->unpack(at, from, length)
                             : buffer->unpack(at, from, length, nullptr);
}

namespace {

std::size_t framed_size(void *state) {
    const auto *range = static_cast<FramedRange *>(state);
    return range->prefix + range->bytes;
}

// The bytes of a fragment that belong to the header.
std::size_t bytes_of_header(const FramedRange &range, std::size_t offset, std::size_t length) {
    return offset < range.prefix ? std::min(length, range.prefix - offset) : 0;
}

// UCX takes the number of bytes only, so what cannot be packed is zeros.
std::size_t pack_framed(void *state, std::size_t offset, void *to_argument, std::size_t room) {
    auto &range = *static_cast<FramedRange *>(state);
    auto *to = static_cast<char *>(to_argument);
    const std::size_t length = std::min(room, framed_size(state) - offset);
    const std::size_t done = bytes_of_header(range, offset, length);
    if (done > 0) std::memcpy(to, reinterpret_cast<const char *>(range.header) + offset, done);
    if (done == length) return length;
    const uint64_t at = range.offset + (offset + done - range.prefix);
    const Status status = range.pack(at, to + done, length - done);
    if (!status.ok()) {
        range.failure = status.code();
        std::memset(to + done, 0, length - done);
    }
    return length;
}

// Takes data of a tagged message, if it is not to be unpacked now. A false total is found later by
// the message's length, and then what was gathered is not used.
bool take_framed(const FramedRange &range, uint64_t at, const char *from, std::size_t bytes,
                 bool follows_header) {
    FramedArrival &arrival = *range.arrival;
    if (arrival.drops_data.load(std::memory_order_acquire)) {
        arrival.has_dropped = true;
        return true;
    }
    if (at >= range.buffer->bytes()) return true;
    const uint64_t room = range.buffer->bytes_of(range.header->total);
    if (!range.buffer->on_host() && !arrival.has_begun && follows_header)
        arrival.gathered.reset(new (std::nothrow) char[room]); // bounded: by the receive's length
    arrival.has_begun = true;
    if (arrival.gathered == nullptr) return false;
    if (at < room)
        std::memcpy(arrival.gathered.get() + at, from, std::min<uint64_t>(bytes, room - at));
    return true;
}

ucs_status_t unpack_framed(void *state, std::size_t offset, const void *from_argument,
                           std::size_t length) {
    auto &range = *static_cast<FramedRange *>(state);
    const auto *from = static_cast<const char *>(from_argument);
    const std::size_t size = framed_size(state);
    if (offset > size || length > size - offset) {
        range.failure = UCD_ERR__INVALID_ARG;
        return UCS_OK;
    }
    const std::size_t done = bytes_of_header(range, offset, length);
    if (done > 0) {
        std::memcpy(reinterpret_cast<char *>(range.header) + offset, from, done);
        if (range.arrival != nullptr && offset + done == range.prefix)
            range.arrival->has_header.store(true, std::memory_order_release);
    }
    if (done == length) return UCS_OK;
    const uint64_t at = range.offset + (offset + done - range.prefix);
    if (range.arrival != nullptr &&
        take_framed(range, at, from + done, length - done, done == range.prefix))
        return UCS_OK;
    const uint64_t bytes = std::min<uint64_t>(length - done, range.buffer->bytes() - at);
    const Status status = range.unpack(at, from + done, bytes);
    if (!status.ok()) range.failure = status.code();
    return UCS_OK;
}

} // namespace

const ucp_generic_dt_ops_t framed_callbacks = {
    .start_pack = [](void *, const void *range, std::size_t) { return const_cast<void *>(range); },
    .start_unpack = [](void *, void *range, std::size_t) { return range; },
    .packed_size = framed_size,
    .pack = pack_framed,
    .unpack = unpack_framed,
    .finish = [](void *) {},
};

} // namespace ucd_ucx
