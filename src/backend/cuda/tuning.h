// What NVIDIA's devices have, and what was measured on them.
#pragma once

#include "plan/tuning.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

inline constexpr gpu::Tuning tuning = {
    .warp_lanes = 32,
    .sector_bytes = 32,
    .line_bytes = 128,
    // Every driver and device takes these. CUDA 12.1 and later take 32764 bytes from compute
    // capability 7.0 on, which would not hold most tables of batches either.
    .parameter_bytes = 4096,

    // A line of a tile is a warp's: each lane of it has a bank of shared memory to itself.
    .tile_side = 32,
    // With fewer rows or columns, most tiles are edges, which pass by shared memory.
    .min_tiled = 8,
    // Stores of twice the words' width on average: unpacking structs of 17 bytes at a stride of 24
    // is then faster than a hand-written kernel (H200; docs/measurements/performance.md).
    .min_store_words = 2,
    // An H200 has 270,336 threads in flight: half a million words or vectors fill them twice, and
    // then several a thread save instructions.
    .many_threads = uint64_t{1} << 19,
    // The second cache of an H200 has 50 MB, of which a move's data finds about this much. Data
    // that comes from memory is moved as fast by one vector a thread, and the lower triangle of a
    // matrix faster by two (0.92 of a hand-written kernel, not 0.81).
    .cached_bytes = uint64_t{32} << 20,
    // Runs of 512 bytes or more hold both vectors of most threads: one search for two.
    .long_run_bytes = 512,
    // H200, 8-byte blocks at stride 512 to pinned memory beside busy kernels: the fewest blocks
    // that lose less than a tenth (docs/internals/decisions/0028-few-blocks-to-host-memory.md).
    .host_blocks = 2,
    // Two launches take as long as one with a table that is uploaded first.
    .min_members_batched = 3,
    // Not measured: an H200 copies so much in the time of two launches.
    .min_cut_copy = uint64_t{4} << 20,
    // H200, nests and lists of 1 and 2 bytes: 3 to 12 % slower by four.
    .narrow_words_by_four = false,
    // H200: what `ucd-bench --tune` found (docs/internals/decisions/0027-copy-engines.md).
    .copy_engines = {.to_host = {.earlier = 2600,
                                 .per_row = 1.3,
                                 .per_odd_row = 0.8,
                                 .kernel_per_byte = 0.0197,
                                 .row_per_byte = 0.0205,
                                 .list_block = 256 * 1024},
                     .from_host = {.earlier = 2600,
                                   .per_row = 1.5,
                                   .per_odd_row = 0.8,
                                   .kernel_per_byte = 0.0203,
                                   .row_per_byte = 0.021,
                                   .list_block = 256 * 1024}},
};

// What the runtime can do.
inline constexpr bool captures_streams = true; // into graphs
inline constexpr bool has_contexts = false;    // of which each knows its own memory only

} // namespace ucd::UCD_GPU
