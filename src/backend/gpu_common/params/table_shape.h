// A layout in a table: for kernels that know none, and read what generated ones have as constants.
#pragma once

#include "params/nest.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

// In place of a number of levels: the interpreter walks the layout.
UCD_GPU_CONSTANT(levels_of_interpreter, 255);

// For words of one width.
typedef struct __attribute__((aligned(vector_bytes))) TableShape {
    uint32_t levels;
    uint32_t shift; // log2 of the width of words
    uint32_t kinds; // of levels: 2 bits each, the outermost in the lowest
    uint32_t lists; // index of the first level's list, if any level has one; or the root
    union {
        NestLevel level[max_levels];
        struct {
            uint64_t lists, nodes; // see InterpretedLayout
            uint64_t position;     // the stream byte that is counted from
        } interpreter;
    } at;
} TableShape;
UCD_GPU_SIZE(TableShape, 64);

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
