// Loads part of a vector from any address.
#pragma once

#include "kernels/words.h"

namespace ucd::UCD_GPU {

// Bytes [begin, end) of the vector that begins at an address; the others are 0. Loads the aligned
// words of four bytes that have some of these bytes.
UCD_GPU_FUNCTION Vector<4> load_bytes(uintptr_t address, uint32_t begin, uint32_t end) {
    constexpr uint32_t bytes = sizeof(uint32_t);
    const auto before = static_cast<uint32_t>(address % bytes);
    uint32_t word[Vector<4>::words + 1];
#pragma unroll
    for (uint32_t i = 0; i <= Vector<4>::words; ++i) {
        const uint32_t at = i * bytes;
        word[i] = at < before + end && at + bytes > before + begin
                      ? load<uint32_t>(address - before + at)
                      : 0;
    }
    Vector<4> v;
#pragma unroll
    for (uint32_t i = 0; i < Vector<4>::words; ++i) {
        // The bytes of this word that are left out at its ends.
        const uint32_t at = i * bytes;
        const uint32_t low = begin > at ? begin - at : 0,
                       high = end < at + bytes ? at + bytes - end : 0;
        v.word[i] = low + high < bytes
                        ? shifted(word[i], word[i + 1], before) & ~0u << 8 * low & ~0u >> 8 * high
                        : 0;
    }
    return v;
}

} // namespace ucd::UCD_GPU
