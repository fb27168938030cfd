#include "pipeline/message.h"

#include <cstring>

namespace ucd_ucx {

bool is_of_refused_peer(const MessageHeader &header) {
    if (header.has_letters()) return header.first_byte != own_first_byte;
    constexpr uint32_t version_1 = 0x55434431, version_2 = 0x55434432;
    uint32_t magic;
    std::memcpy(&magic, static_cast<const void *>(&header), sizeof magic);
    const uint32_t other_order = __builtin_bswap32(magic);
    return magic == version_1 || magic == version_2 || other_order == version_1 ||
           other_order == version_2;
}

bool MessageHeader::unused_are_zero(bool is_tagged) const {
    using enum MessageKind;
    const bool is_users = !is_tagged && (kind == whole || kind == user_offer);
    const bool has_detail = kind == withdraw || kind == route || kind == decline;
    const bool has_offset = kind == chunk || kind == ring_chunk;
    // The other messages of a user's transfer repeat its id.
    const bool has_user_id = !is_tagged && kind != offer && kind != decline;
    const bool has_more = is_users || has_place() || kind == introduction || kind == direct;
    return (has_detail || detail == 0) && (has_offset || offset == 0) &&
           (has_user_id || user_id == 0) && (has_more || user_header == 0) &&
           (kind != introduction || total == 0);
}

bool DirectPlace::unused_are_zero() const {
    const ucd_ipc_handle_t none = {};
    return memory <= Memory::attached && (descriptors > 0 || first_descriptor == 0) &&
           (memory != Memory::host ||
            (descriptors == 0 && std::memcmp(handle.bytes, none.bytes, sizeof none.bytes) == 0));
}

std::size_t MessageHeader::following() const {
    if (has_place()) return sizeof(RingPlace);
    if (kind == MessageKind::introduction) return sizeof(Introduction);
    return kind == MessageKind::direct ? sizeof(DirectPlace) : user_header;
}

} // namespace ucd_ucx
