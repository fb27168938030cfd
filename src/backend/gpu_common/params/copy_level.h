// A level of a nest with a stride for each of two sides.
#pragma once

#include "params/divisor.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

UCD_GPU_CONSTANT(max_copy_levels, 10);

typedef struct CopyLevel {
    Divisor each; // number of words, tiles or vectors of one child
    uint32_t unused;
    int64_t from, to; // strides in bytes
} CopyLevel;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
