// A layout as an entry of a table, for kernels that handle any layout: they read from it what
// generated kernels have as constants.
#pragma once

#include "params/nest.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

// This value of `levels` means that the interpreter walks the layout.
UCD_GPU_CONSTANT(levels_of_interpreter, 255);

// A layout for words of one width.
typedef struct __attribute__((aligned(vector_bytes))) TableShape {
    uint32_t levels;
    uint32_t shift; // log2 of the width of words
    uint32_t kinds; // of levels, 2 bits each, the outermost level in the lowest bits
    uint32_t lists; // index of the first level's list, if any; interpreter: the root
    union {
        NestLevel level[max_levels];
        struct {
            uint64_t lists, nodes; // see InterpretedLayout
            uint64_t position;     // stream position that others are relative to
        } interpreter;
    } at;
} TableShape;
UCD_GPU_SIZE(TableShape, 64);

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
