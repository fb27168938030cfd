// Identifies bytes by their content: the first 16 bytes of their SHA-256.
#pragma once

#include "common/tokens.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ucd_ucx {

using ContentId = std::array<uint8_t, 16>;

ContentId content_id(const void *data, std::size_t bytes);

// Keyed, since peers choose the content.
struct HashOfContentId {
    std::size_t operator()(const ContentId &id) const { return keyed_hash(id.data(), id.size()); }
};

} // namespace ucd_ucx
