// What a generated move kernel works on: up to three loop levels around blocks of bytes.
//
// Levels are numbered from the outermost. Three kinds:
//   s  strided:  iteration i lies at i * stride
//   b  indexed_block: iteration i lies at displs[i]; where it is the only level, at
//                displs[i] << shift, for leaves that take units
//   i  indexed: run r lies at displs[r] and holds first[r + 1] - first[r] children, child j of a
//   run
//                at j * stride
// The innermost level is around the block. An innermost i is dense: its children are the blocks,
// and a run's blocks touch (stride == block), so a run is copied as one piece.
#pragma once

#include <cstdint>

namespace ucd::seq {

inline constexpr unsigned max_levels = 3;

struct Level {
    uint64_t count;        // iterations (s, b) or runs (i)
    int64_t stride;        // s, i; of a b that is the only level, the shift
    const int64_t *displs; // b, i
    const uint64_t *first; // i: count + 1 entries
};

struct Nest {
    Level level[max_levels];
    uint64_t block; // bytes of a block
    // Of an innermost i level: the bytes of the longest run, and how many runs there are.
    uint64_t longest_run, runs;
};

// One block of a nest: its index in every level. For an indexed level, `at` is the run and `in_run`
// the child in that run.
struct Position {
    uint64_t at[max_levels];
    uint64_t in_run[max_levels];
};

// Moves the blocks from `first` to `last`, both included, in packed order, between the layout whose
// origin is at `typed` and the packed bytes that start at `packed`. `first` and `last` are valid
// positions and `first` does not come after `last`. Reads and writes nothing outside those blocks.
using MoveKernel = void (*)(const Nest &nest, char *typed, char *packed, const Position &first,
                            const Position &last);

// out[i] = out[i] op in[i] for `count` packed elements; both sides may be unaligned, and they do
// not overlap.
using ReduceKernel = void (*)(void *out, const void *in, uint64_t count);

// The same for `count` blocks of `block` bytes, which lie `stride` apart from `at` on, and as many
// packed bytes; the direction tells which side is `out`. A block is whole elements.
using RowReduceKernel = void (*)(char *at, int64_t stride, uint64_t count, uint64_t block,
                                 char *packed);

} // namespace ucd::seq
