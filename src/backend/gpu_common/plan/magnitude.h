#pragma once

#include <cstdint>

namespace ucd::gpu {

// The absolute value; also correct for INT64_MIN.
inline uint64_t magnitude(int64_t n) {
    return n < 0 ? ~static_cast<uint64_t>(n) + 1 : static_cast<uint64_t>(n);
}

} // namespace ucd::gpu
