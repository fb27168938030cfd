// Parameters for transposes: neighbours in the packed stream are far apart in memory, and
// neighbours in memory are far apart in the stream. Moved in tiles through shared memory, so that
// accesses to both sides are coalesced.
#pragma once

#include "params/divisor.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

UCD_GPU_CONSTANT(max_outer_levels, 2);

typedef struct TransposeParams {
    // Columns are the level around the elements; rows are the level with short strides in memory.
    uint64_t columns, rows;
    int64_t column_stride, row_stride; // strides in memory
    uint64_t row_bytes;                // distance between rows in the stream
    // The outer levels.
    uint64_t outer_count[max_outer_levels];
    int64_t outer_stride[max_outer_levels];
    uint64_t outer_bytes[max_outer_levels];
    Divisor column_tiles, row_tiles, outer_tiles; // along each; outer: the inner one of the two
    uint32_t tiles;
    uint64_t typed;
    uint64_t packed;     // the address that stream byte 0 would have
    uint64_t begin, end; // the range of the stream
} TransposeParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
