// What the transpose kernels move: a matrix whose rows are lines of one side and whose columns are
// lines of the other. In either side's order, each cache line of the other one would be visited
// once for each of its entries. In tiles, both sides are accessed line by line.
#pragma once

#include <cstdint>

namespace ucd::seq {

// Entry (f, t) lies at from + from_lines[f] + t * from_step, and goes to
// to + to_lines[t] + f * to_step. The two sides do not overlap.
struct Matrix {
    uintptr_t from, to;
    const int64_t *from_lines, *to_lines; // the displacement of each line
    uint64_t from_count, to_count;        // the numbers of lines
    int64_t from_step, to_step;           // from one entry of a line to the next
    uint64_t block;                       // bytes of an entry
    bool from_adjacent, to_adjacent;      // whether the lines follow each other without gaps; see
                                          // max_interleaved
    bool past_caches;                     // whether the target should be written past the caches,
    bool unaligned_past_caches;           // and its lines if they begin anywhere in cache lines
};

// Up to so many lines of blocks of 1, 2 or 4 bytes are interleaved, or taken apart, if the lines of
// the other side are adjacent. Only the first one of those is listed then.
inline constexpr uint64_t max_interleaved = 4;

// Moves all entries of the matrix.
using TransposeKernel = void (*)(const Matrix &matrix);

} // namespace ucd::seq
