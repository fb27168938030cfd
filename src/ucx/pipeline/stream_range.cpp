#include "pipeline/stream_range.h"

#include <algorithm>
#include <cstring>

namespace ucd_ucx {
namespace {

void *start_packing_range(void *, const void *range, std::size_t) {
    return const_cast<void *>(range);
}

void *start_unpacking_range(void *, void *range, std::size_t) {
    return range;
}

std::size_t range_size(void *range) {
    return static_cast<const StreamRange *>(range)->bytes;
}

// UCX takes the number of bytes only, so what cannot be packed is zeros.
std::size_t pack_range(void *state, std::size_t offset, void *to, std::size_t room) {
    auto *range = static_cast<StreamRange *>(state);
    const std::size_t length = std::min<std::size_t>(room, range->bytes - offset);
    const uint64_t at = range->offset + offset;
    const Status status = range->cursor != nullptr
                              ? range->cursor->pack(at, static_cast<char *>(to), length)
                              : range->buffer->pack(at, to, length, nullptr);
    if (!status.ok()) {
        range->failure = status.code();
        std::memset(to, 0, length);
    }
    return length;
}

ucs_status_t unpack_range(void *state, std::size_t offset, const void *from, std::size_t length) {
    auto *range = static_cast<StreamRange *>(state);
    if (offset > range->bytes || length > range->bytes - offset) {
        range->failure = UCD_ERR__INVALID_ARG;
        return UCS_OK;
    }
    const uint64_t at = range->offset + offset;
    const Status status = range->cursor != nullptr
                              ? range->cursor->unpack(at, static_cast<const char *>(from), length)
                              : range->buffer->unpack(at, from, length, nullptr);
    if (!status.ok()) range->failure = status.code();
    return UCS_OK;
}

void finish_range(void *) {}

} // namespace

const ucp_generic_dt_ops_t stream_range_callbacks = {
    .start_pack = start_packing_range,
    .start_unpack = start_unpacking_range,
    .packed_size = range_size,
    .pack = pack_range,
    .unpack = unpack_range,
    .finish = finish_range,
};

} // namespace ucd_ucx
