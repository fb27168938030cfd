// Two levels whose roles differ on the two sides: neighbours in the packed stream lie far apart in
// memory, and neighbours in memory lie far apart in the stream. Moved in tiles through shared
// memory, so that both sides see neighbours.
#pragma once

#include "params/divisor.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

UCD_GPU_CONSTANT(max_outer_levels, 2);

typedef struct TransposeParams {
    // The level around the elements, and the one whose steps in memory are short.
    uint64_t columns, rows;
    int64_t column_stride, row_stride; // in memory
    uint64_t row_bytes;                // in the stream, from row to row
    // All others.
    uint64_t outer_count[max_outer_levels];
    int64_t outer_stride[max_outer_levels];
    uint64_t outer_bytes[max_outer_levels];
    Divisor column_tiles, row_tiles, outer_tiles; // tiles along each; of outer levels the inner one
    uint32_t tiles;
    uint64_t typed;
    uint64_t packed;     // where stream byte 0 would be
    uint64_t begin, end; // the range of the stream
} TransposeParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
