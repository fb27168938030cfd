// Unpredictable numbers, ids of contents, and a hash whose collisions a peer cannot choose. All
// come from libsodium.
#pragma once

#include "common/failure.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ucd_ucx {

// Must be called before all other functions of this header. Any thread may call it, also
// repeatedly.
Status start_cryptography();

void fill_randomly(void *memory, std::size_t bytes);

// An unpredictable 64-bit number that is never 0.
uint64_t random_token();

// SipHash-2-4 with a key that this process draws once, for hash tables whose keys peers choose.
std::size_t keyed_hash(const void *data, std::size_t bytes);

// Identifies bytes by their content: the first 16 bytes of their SHA-256.
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
struct HashOfId {
    std::size_t operator()(const ContentId &id) const { return keyed_hash(id.data(), id.size()); }
};

} // namespace ucd_ucx
