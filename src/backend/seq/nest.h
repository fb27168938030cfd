// The data that a generated move kernel works on: up to three loop levels around blocks of bytes.
//
// Levels are numbered from the outermost. There are three kinds:
//   s  strided:        iteration i lies at i * stride
//   b  indexed_block:  iteration i lies at displs[i]
//   i  indexed:        run r lies at displs[r] and has first[r + 1] - first[r] children; child j
//                      of a run lies at j * stride
// The innermost level is around the block. An innermost i is dense: its children are blocks, and
// the blocks of a run are contiguous (stride == block), so that a run is copied as one piece.
#pragma once

#include <cstdint>

namespace ucd::seq {

inline constexpr unsigned max_levels = 3;

struct Level {
    uint64_t count;        // iterations (s, b) or runs (i)
    int64_t stride;        // s, i
    const int64_t *displs; // b, i
    const uint64_t *first; // i: count + 1 entries
};

struct Nest {
    Level level[max_levels];
    uint64_t block; // size of a block
    // For an innermost level i: the bytes of the longest run, and the number of runs.
    uint64_t longest_run, runs;
};

// A block of a nest, as its index in every level. For an indexed level, `at` is the run and
// `in_run` the child in that run.
struct Position {
    uint64_t at[max_levels];
    uint64_t in_run[max_levels];
};

// Moves the blocks from `first` to `last`, both included, in packed order, between the layout with
// its origin at `typed` and the packed bytes from `packed` on. `first` and `last` are valid
// positions, and `first` does not come after `last`. Accesses only the bytes of these blocks.
using MoveKernel = void (*)(const Nest &nest, char *typed, char *packed, const Position &first,
                            const Position &last);

// out[i] = out[i] op in[i] for `count` packed elements. Both sides may be unaligned; they do not
// overlap.
using ReduceKernel = void (*)(void *out, const void *in, uint64_t count);

// Same, for `count` blocks of `block` bytes that lie `stride` apart from `at` on, and as many
// packed bytes. The direction decides which side is `out`. A block consists of whole elements.
using RowReduceKernel = void (*)(char *at, int64_t stride, uint64_t count, uint64_t block,
                                 char *packed);

} // namespace ucd::seq
