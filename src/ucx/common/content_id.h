// Identifies bytes by their content: the first 16 bytes of their SHA-256.
#pragma once

#include "common/tokens.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ucd_ucx {

using ContentId = std::array<uint8_t, 16>;

ContentId content_id(const void *data, std::size_t bytes);

// Same result as ==, for which the compiler would call memcmp.
inline bool same(const ContentId &one, const ContentId &other) {
    uint64_t a[2], b[2];
    std::memcpy(a, one.data(), sizeof a);
    std::memcpy(b, other.data(), sizeof b);
    return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
}

// Keyed, so that peers, who choose the content, cannot construct collisions.
struct HashOfContentId {
    std::size_t operator()(const ContentId &id) const { return keyed_hash(id.data(), id.size()); }
};

} // namespace ucd_ucx
