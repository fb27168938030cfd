// From one layout to another, without a packed stream between them. Each byte knows its place on
// both sides, so that any order of moving will do.
#pragma once

#include "params/interpreter.h"
#include "params/table_shape.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

UCD_GPU_CONSTANT(max_copy_levels, 8);
UCD_GPU_CONSTANT(copy_words_per_thread, 4); // or one

// A strided level that both sides have.
typedef struct CopyLevel {
    Divisor each; // words, or tiles, of one child
    uint32_t unused;
    int64_t from, to; // bytes from child to child
} CopyLevel;

// Both sides are strided: words in an order in which neighbours are close on both.
typedef struct CopyRowsParams {
    uint64_t from, to;
    uint32_t words, tiles;
    uint32_t per_thread;
    uint32_t levels;
    CopyLevel level[max_copy_levels]; // the outermost first
} CopyRowsParams;

// Neighbours on one side are far apart on the other: tiles of two levels pass through shared
// memory.
typedef struct CopyTilesParams {
    uint64_t from, to;
    uint64_t columns, rows; // neighbours in a column are close in `to`, those in a row in `from`
    int64_t from_column, from_row, to_column, to_row; // bytes from one to the next
    Divisor column_tiles, row_tiles;                  // along each
    uint32_t tiles;
    uint32_t levels;
    CopyLevel level[max_copy_levels]; // around them
} CopyTilesParams;

// Whatever has a nest on each side.
typedef struct __attribute__((aligned(vector_bytes))) CopyTable {
    TableShape shape[2];
    NestList list[2 * max_levels];
} CopyTable;

// Words in the order of the stream.
typedef struct CopyPlacesParams {
    uint64_t from, to;
    uint32_t first_from, first_to; // the words of each side's stream that the range begins with
    uint32_t words, tiles;
    uint32_t per_thread;
    uint32_t unused;
    CopyTable table;
} CopyPlacesParams;

// Whatever else there is.
typedef struct CopyInterpretersParams {
    InterpretedLayout from, to;
    uint64_t first_from, first_to; // the bytes of each side's stream that the range begins with
    uint64_t bytes;
    uint32_t shift; // log2 of the width of words, at most 3
    uint32_t unused;
} CopyInterpretersParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
