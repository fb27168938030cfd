// Ordinary memory with random guard bytes on either side, at any alignment.
#pragma once

#include "support/buffers/image_buffer.hpp"
#include "support/oracle/byte_map.hpp"

namespace ucdtest {

class GuardedBuffer : public ImageBuffer {
public:
    // Displacements [range.low, range.high) are data; the byte at range.low gets an address that is
    // `misalign` past a multiple of 64. Filled at random.
    GuardedBuffer(Rng &rng, TouchedRange range, std::size_t misalign);
    // At a random alignment: any, or often a whole line, as callers' buffers are.
    GuardedBuffer(Rng &rng, TouchedRange range);

    static constexpr std::size_t guard_bytes = 128;

private:
    std::unique_ptr<std::byte[]> memory_;
};

// A packed buffer: displacements [0, bytes).
GuardedBuffer packed_buffer(Rng &rng, std::size_t bytes);

} // namespace ucdtest
