// Properties of NVIDIA's devices, and values measured on them.
#pragma once

#include "plan/tuning.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

inline constexpr gpu::Tuning tuning = {
    .warp_lanes = 32,
    .sector_bytes = 32,
    .line_bytes = 128,
    // All drivers and devices support this size. CUDA 12.1 and later support 32764 bytes from
    // compute capability 7.0 on, which would still be too small for most tables of batches.
    .parameter_bytes = 4096,

    // An H200 runs 270,336 threads at a time: half a million words or vectors are two rounds of
    // these, and beyond that, several per thread save instructions.
    .many_threads = uint64_t{1} << 19,
    // The L2 cache of an H200 has 50 MB, of which about this much is available to a move's data.
    // Data from memory is moved as fast with one vector per thread, except the lower triangle of a
    // matrix, which is faster with two (0.92 of a hand-written kernel, not 0.81).
    .cached_bytes = uint64_t{32} << 20,
    // H200, nests and lists of 1 and 2 bytes: handling four words at a time is 3 to 12 % slower.
    .narrow_words_by_four = false,
    // H200: measured by `ucd-bench --tune`, and row_per_byte, per_row and host_distance so that rows
    // of `ucd-bench --rows` are moved in the faster way
    // (docs/internals/decisions/gpu-kernels.md).
    .copy_engines = {.to_host = {.earlier = 2600,
                                 .per_row = 1.4,
                                 .per_odd_row = 0.8,
                                 .kernel_per_byte = 0.0197,
                                 .row_per_byte = 0.0202,
                                 .list_block = 256 * 1024,
                                 .host_distance = 0},
                     .from_host = {.earlier = 2600,
                                   .per_row = 1.5,
                                   .per_odd_row = 0.8,
                                   .kernel_per_byte = 0.0203,
                                   .row_per_byte = 0.0205,
                                   .list_block = 256 * 1024,
                                   .host_distance = 128}},
};

// Capabilities of the runtime.
inline constexpr bool runs_device_code = true; // of ucd_device.h
inline constexpr bool captures_streams = true; // into graphs
inline constexpr bool has_contexts = false;    // with memory of their own

} // namespace ucd::UCD_GPU
