#include "common/tokens.h"

#include <algorithm>
#include <array>
#include <sodium.h>

namespace ucd_ucx {

Status start_cryptography() {
    if (sodium_init() >= 0) return success;
    return fail(UCD_ERR__INTERNAL, "libsodium finds no source of random numbers");
}

void fill_randomly(void *memory, std::size_t bytes) {
    randombytes_buf(memory, bytes);
}

uint64_t random_token() {
    uint64_t token;
    do fill_randomly(&token, sizeof token);
    while (token == 0);
    return token;
}

std::size_t keyed_hash(const void *data, std::size_t bytes) {
    static const auto key = [] {
        std::array<unsigned char, crypto_shorthash_KEYBYTES> drawn;
        fill_randomly(drawn.data(), drawn.size());
        return drawn;
    }();
    static_assert(crypto_shorthash_BYTES == sizeof(std::size_t));
    std::size_t hash;
    (void)crypto_shorthash(reinterpret_cast<unsigned char *>(&hash),
                           static_cast<const unsigned char *>(data), bytes, key.data());
    return hash;
}

ContentId content_id(const void *data, std::size_t bytes) {
    std::array<unsigned char, crypto_hash_sha256_BYTES> digest;
    (void)crypto_hash_sha256(digest.data(), static_cast<const unsigned char *>(data), bytes);
    ContentId id;
    std::copy_n(digest.begin(), id.size(), id.begin());
    return id;
}

} // namespace ucd_ucx
