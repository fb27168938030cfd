// Loops by hand for vectors of many block sizes, each a constant of its loop.
#pragma once

#include <cstdint>
#include <span>

namespace bench {

// `count` blocks, `stride` bytes apart.
using VectorLoop = void (*)(char *typed, char *packed, std::int64_t count, std::int64_t stride);

struct VectorLoops {
    std::int64_t block;
    VectorLoop pack, unpack;
};

namespace hand {

std::span<const VectorLoops> vectors();

} // namespace hand
} // namespace bench
