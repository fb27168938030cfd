// From one layout to another, without a packed stream between them. Each byte knows its place on
// both sides, so that any order of moving will do.
#pragma once

#include "divisor.h"
#include "program.h"
#include "table_shape.h"
#include "words.h"

#include <cstdint>

namespace ucd::UCD_GPU {

inline constexpr unsigned most_copy_levels = 8;
inline constexpr unsigned copy_words_per_thread = 4; // or one

// A strided level that both sides have.
struct CopyLevel {
    Divisor each; // words, or tiles, of one child
    uint32_t unused;
    int64_t from, to; // bytes from child to child
};

// Both sides are strided: words in an order in which neighbours are close on both.
struct CopyRowsParams {
    uintptr_t from, to;
    uint32_t words, tiles;
    uint32_t per_thread;
    uint32_t levels;
    CopyLevel level[most_copy_levels]; // the outermost first
};

// Neighbours on one side are far apart on the other: tiles of two levels pass through shared
// memory.
struct CopyTilesParams {
    uintptr_t from, to;
    uint64_t columns, rows; // neighbours in a column are close in `to`, those in a row in `from`
    int64_t from_column, from_row, to_column, to_row; // bytes from one to the next
    Divisor column_tiles, row_tiles;                  // along each
    uint32_t tiles;
    uint32_t levels;
    CopyLevel level[most_copy_levels]; // around them
};

// Whatever has a nest on each side: words in the order of the stream.
struct CopyPlacesParams {
    uintptr_t from, to;
    uint32_t words, tiles;
    uint32_t per_thread;
    uint32_t unused;
    struct alignas(vector_bytes) Table {
        TableShape shape[2];
        NestList list[2 * max_levels];
    } table;
};

// Whatever else there is.
struct CopyProgramsParams {
    ProgramParams from, to; // image, nodes, root and laid_out of each
    uint64_t bytes;
    uint32_t shift; // log2 of the width of words, at most 3
};

} // namespace ucd::UCD_GPU
