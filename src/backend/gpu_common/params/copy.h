// Copies from one layout to another without a packed stream between them. Each byte has one address
// on either side, so bytes may be moved in any order.
#pragma once

#include "params/copy_level.h"
#include "params/interpreter.h"
#include "params/table_shape.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

UCD_GPU_CONSTANT(copy_words_per_thread, 4); // or 1

// If both sides are strided: words in an order in which neighbours are close on both sides.
typedef struct CopyRowsParams {
    uint64_t from, to;
    uint32_t words, tiles;
    uint32_t per_thread;
    uint32_t levels;
    CopyLevel level[max_copy_levels]; // the outermost first
} CopyRowsParams;

// For layouts that are nests on both sides.
typedef struct __attribute__((aligned(vector_bytes))) CopyTable {
    TableShape shape[2];
    NestList list[2 * max_levels];
} CopyTable;

// For nests: words in the order of the packed stream. A row is a part of the stream that is
// contiguous on both sides. Layouts are described in units, of which a word has one or several.
typedef struct CopyPlacesParams {
    uint64_t from, to;
    uint32_t first_from, first_to; // where the range's first row begins in each side's stream, in
                                   // units
    uint32_t words, tiles;
    uint32_t per_thread;
    uint32_t before;    // words of the first row that precede the range
    Divisor row;        // number of words of a row
    uint32_t row_units; // the same in units
    CopyTable table;
} CopyPlacesParams;

// For all other layouts.
typedef struct CopyInterpretersParams {
    InterpretedLayout from, to;
    uint64_t first_from, first_to; // where the range begins in each side's stream, in bytes
    uint64_t bytes;
    uint32_t shift; // log2 of the width of words, at most 3
    uint32_t unused;
} CopyInterpretersParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
