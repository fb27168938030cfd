// How messages name a type that was told before: by the first half of the SHA-256 of its bytes.
#pragma once

#include <sodium.h>

#include <string>

namespace ucdtest {

inline std::string name_of(const std::string &flat) {
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(digest, reinterpret_cast<const unsigned char *>(flat.data()), flat.size());
    return {reinterpret_cast<const char *>(digest), 16};
}

} // namespace ucdtest
