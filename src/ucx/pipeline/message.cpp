#include "pipeline/message.h"

#include <cstring>

namespace ucd_ucx {

bool is_of_refused_peer(const Header &header) {
    if (header.letters == Header::expected_letters) return header.first_byte != own_first_byte;
    constexpr uint32_t version_1 = 0x55434431, version_2 = 0x55434432;
    uint32_t magic;
    std::memcpy(&magic, static_cast<const void *>(&header), sizeof magic);
    const uint32_t other_order = __builtin_bswap32(magic);
    return magic == version_1 || magic == version_2 || other_order == version_1 ||
           other_order == version_2;
}

std::size_t Header::following() const {
    if (has_place()) return sizeof(RingPlace);
    if (kind == Kind::introduction) return sizeof(Introduction);
    return kind == Kind::direct ? sizeof(DirectPlace) : user_header;
}

} // namespace ucd_ucx
