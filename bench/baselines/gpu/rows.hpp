// Moves of rows at equal distances on both sides: a kernel that works in host memory over the link,
// and CCCL's copy of many pieces.
#pragma once

#include "vendor.hpp"

#include <cstdint>
#include <functional>

namespace bench::gpu {

// A side whose pitch is the width of a row is contiguous.
struct Rows {
    char *to;
    std::int64_t to_pitch;
    const char *from;
    std::int64_t from_pitch, width, rows;

    std::int64_t bytes() const { return width * rows; }
    // Rows [first, first + count).
    Rows part(std::int64_t first, std::int64_t count) const {
        return {
            to + first * to_pitch, to_pitch, from + first * from_pitch, from_pitch, width, count};
    }
};

namespace hand {

// In words as wide as everything is aligned to, up to 16 bytes; less than 2^32 of them. Each thread
// moves at least four. At most so many blocks, or as many as there is work for if `blocks` is 0.
void copy_rows(const Rows &rows, unsigned blocks, gpuStream_t stream);

// cub::DeviceMemcpy::Batched with a piece for each row, in the null stream. Empty if it was not
// there when this was compiled.
std::function<void()> cub_rows(const Rows &rows);

} // namespace hand
} // namespace bench::gpu
