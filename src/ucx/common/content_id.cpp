#include "common/content_id.h"

#include <algorithm>
#include <sodium.h>

namespace ucd_ucx {

ContentId content_id(const void *data, std::size_t bytes) {
    std::array<unsigned char, crypto_hash_sha256_BYTES> digest;
    (void)crypto_hash_sha256(digest.data(), static_cast<const unsigned char *>(data), bytes);
    ContentId id;
    std::copy_n(digest.begin(), id.size(), id.begin());
    return id;
}

} // namespace ucd_ucx
