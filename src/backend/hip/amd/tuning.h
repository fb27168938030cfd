// What AMD's devices have. No threshold was measured yet: where a comment says so, the number is
// the one that cannot do much harm.
#pragma once

#include "plan/tuning.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

inline constexpr gpu::Tuning tuning = {
    // CDNA's wavefronts. RDNA's have 32: what is laid out for 64 threads in step is then done by
    // two wavefronts, each of which finds its half side by side.
    .warp_lanes = 64,
    // Memory is read and written by half lines.
    .sector_bytes = 64,
    .line_bytes = 128,
    // HIP promises these for every kernel.
    .parameter_bytes = 4096,

    // 32 lanes access the banks of a compute unit's memory at a time.
    .tile_side = 32,
    // With fewer rows or columns, most tiles are edges, which pass by shared memory.
    .min_tiled = 8,
    // As on NVIDIA's devices; not measured.
    .min_store_words = 2,
    // An MI250X has 225,280 threads in flight for each of its devices, an MI300X 622,592.
    .many_threads = uint64_t{1} << 19,
    // The second cache of an MI200 has 8 MiB, those of an MI300 4 MiB each; not measured.
    .cached_bytes = uint64_t{4} << 20,
    // As on NVIDIA's devices; not measured.
    .long_run_bytes = 512,
    .host_blocks = 2,
    .min_members_batched = 3,
    // As on NVIDIA's devices; not measured.
    .min_cut_copy = uint64_t{4} << 20,
    // Not measured: with three levels 66 vector registers rather than 216 (gfx90a), half the code.
    .narrow_words_by_four = true,
    .copy_engines = {.to_host = gpu::unmeasured_engine,
                     .from_host = gpu::unmeasured_engine,
                     .row_alignment = 16,
                     .long_row = UINT64_MAX},
};

// What the runtime can do.
inline constexpr bool captures_streams = true; // into graphs
inline constexpr bool has_contexts = false;    // of which each knows its own memory only

} // namespace ucd::UCD_GPU
