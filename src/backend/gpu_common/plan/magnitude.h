#pragma once

#include <cstdint>

namespace ucd::gpu {

// Without the sign; of INT64_MIN, too.
inline uint64_t magnitude(int64_t n) {
    return n < 0 ? ~static_cast<uint64_t>(n) + 1 : static_cast<uint64_t>(n);
}

} // namespace ucd::gpu
