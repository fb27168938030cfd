// Moves between two sides whose fastest axes differ: neighbours on one side are far apart on the
// other. Elements are moved in tiles through shared memory, so that accesses to both sides are
// coalesced. The sides are two strided layouts, or one and the packed stream.
#pragma once

#include "params/copy_level.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

// A tile has columns, which are close in the source, and rows, which are close in the target. It
// consists of cells, in which that many neighbours are together that fill at least four bytes. Of
// cells, it has 2^(wide) by 2^(tile_cell_bits - wide).
UCD_GPU_CONSTANT(cell_bytes, 4);
UCD_GPU_CONSTANT(tile_cell_bits, 10);
UCD_GPU_CONSTANT(min_side_bits, 3); // of the cells along either side

// Another kernel moves the lines of 2 to so many channels, if lines consist of whole vectors.
UCD_GPU_CONSTANT(max_channels, 4);

// The packed side, if elements of it are out of the range that is moved.
UCD_GPU_CONSTANT(limit_nothing, 0);
UCD_GPU_CONSTANT(limit_source, 1);
UCD_GPU_CONSTANT(limit_target, 2);

// Lines of the target that do not begin at sectors of memory: each tile moves a window of every
// line that begins at a sector, so that tiles share sectors at the ends of lines only. Tiles then
// have `slack` more rows than they move of a line, as many as a sector has elements, because the
// windows of different lines begin at different rows. On an H200, these are the best tiles for
// elements of so many bytes. Where sectors have 64 bytes, half of the rows of the smaller ones
// would be slack.
#ifdef __cplusplus
inline constexpr bool windows_are_square(uint32_t bytes, uint32_t sector) {
    return bytes == 1 && sector <= 32;
}
inline constexpr uint32_t window_wide(uint32_t bytes, uint32_t sector) {
    return bytes >= cell_bytes || windows_are_square(bytes, sector) ? 5 : 4;
}
inline constexpr uint32_t window_high(uint32_t bytes, uint32_t sector) { // log2 of a column's cells
    return bytes > cell_bytes || windows_are_square(bytes, sector) ? 5 : 6;
}
#endif

// How the columns follow each other in the source, or the rows in the target.
UCD_GPU_CONSTANT(no_runs, 0);
UCD_GPU_CONSTANT(runs_of_cells, 1); // a cell's elements are consecutive
UCD_GPU_CONSTANT(one_run, 2);       // all elements are consecutive

// Flags: all cells of the side are whole, aligned, and in the range.
UCD_GPU_CONSTANT(whole_in_source, 1);
UCD_GPU_CONSTANT(whole_in_target, 2);

typedef struct TilesParams {
    uint64_t from, to;
    uint64_t begin, bytes;           // of the limited side: address and length of the range
    uint32_t columns, rows;          // of all tiles together
    Divisor column_tiles, row_tiles; // number of tiles along each
    uint32_t tiles;
    uint32_t wide;  // log2 of the number of cells in a row of a tile
    uint32_t slack; // 0 if tiles are not of windows
    // The number of channels, 0 if tiles are not of these. The first level has the positions, the
    // second one the channels; the levels around end with the one of a line's vectors. Columns are
    // the vectors of all lines of a channel.
    uint32_t channels;
    uint32_t limited;
    uint32_t source_runs, target_runs;
    uint32_t saturate; // whether elements are converted with op convert_sat
    // Columns and rows may consist of several levels each; others are around the tiles.
    uint32_t column_levels, row_levels, outer_levels;
    uint32_t whole_cells;
    CopyLevel level[max_copy_levels]; // of columns, of rows, and around; each the outermost first
} TilesParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
