// Two levels whose roles differ on the two sides: neighbours in the packed stream lie far apart in
// memory, and neighbours in memory lie far apart in the stream. Moved in tiles through shared memory,
// so that both sides see neighbours.
#pragma once

#include "direction.h"
#include "divisor.h"
#include "words.h"

#include <cstdint>

namespace ucd::UCD_GPU {

inline constexpr unsigned tile_side = 32;
inline constexpr unsigned most_outer_levels = 2;

struct TransposeParams {
    // The level around the elements, and the one whose steps in memory are short.
    uint64_t columns, rows;
    int64_t column_stride, row_stride; // in memory
    uint64_t row_bytes;                // in the stream, from row to row
    // All others.
    uint64_t outer_count[most_outer_levels];
    int64_t outer_stride[most_outer_levels];
    uint64_t outer_bytes[most_outer_levels];
    Divisor column_tiles, row_tiles, outer_tiles; // tiles along each; of outer levels the inner one
    uint32_t tiles;
    uintptr_t laid_out;
    uintptr_t packed;    // where stream byte 0 would be
    uint64_t begin, end; // the range of the stream
};

} // namespace ucd::UCD_GPU
