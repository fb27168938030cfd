// Which moves pay to go through tiles in shared memory, and how these are made.
#pragma once

#include "params/tiles.h"
#include "plan/copy_nest.h"
#include "plan/tuning.h"

namespace ucd::gpu {

// The levels of a range of a strided layout, with strides in memory and in the packed stream.
struct PackedNest {
    CopyNest nest;         // from memory to the stream
    int64_t start = 0;     // displacement of the nest's first byte
    uint64_t position = 0; // of that byte in the stream

    void reverse(); // from the stream to memory
};

// Finds the smallest nest that covers the range of the stream of `side.top`. False if the layout is
// not strided, has too many levels, or most of the nest is not in the range.
bool cover_range(const CopySide &side, uint64_t length, PackedNest &packed);

// The size of elements on both sides. They differ if elements are converted.
struct ElementBytes {
    uint32_t from, to;
};

// Divides a nest of single elements, of at most max_copy_levels levels, into tiles. Neighbours on
// either side have to be further apart on the other side than a memory sector, or tiles would not
// pay; false then, and if the numbers would not fit. Sets all parameters but addresses, limits,
// `saturate` and `whole_cells`.
bool make_tiles(const CopyNest::Levels &levels, ElementBytes bytes, const Tuning &tuning,
                TilesParams &params);

// The addresses of both sides.
struct TilePlace {
    uint64_t from, to;
};

// Does the same for elements that are not converted, and makes tiles of channels, too: one side has
// the elements of a few channels together, the other one has a line for each channel.
bool make_copy_tiles(const CopyNest::Levels &levels, const TilePlace &at, uint32_t bytes,
                     const Tuning &tuning, TilesParams &params);

// Sets the addresses of both sides. Limits must have been set.
void place_tiles(const TilePlace &at, ElementBytes bytes, TilesParams &params);

// Makes tiles of windows, which another kernel moves, of tiles that have been placed. Returns false
// if all lines of the target begin at sectors, or if they are too short.
bool make_windows(uint32_t bytes, const Tuning &tuning, TilesParams &params);

// Sets the divisors and strides of the levels. `each` is the number of words, tiles or vectors in a
// child of the innermost level.
void put_levels(const CopyNest::Levels &levels, uint64_t each, CopyLevel *to);

} // namespace ucd::gpu
