// What the host vendor's devices are said to have. Warps are twice as wide as NVIDIA's, as on some
// of AMD's devices, so that tests find code that takes 32 for granted. Most thresholds are those of
// src/backend/cuda/tuning.h, so that tests of choices hold for both vendors.
#pragma once

#include "plan/tuning.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

inline constexpr gpu::Tuning tuning = {
    .warp_lanes = 64,
    .sector_bytes = 32,
    .line_bytes = 128,
    .parameter_bytes = 4096,
    .many_threads = uint64_t{1} << 19,
    .cached_bytes = uint64_t{32} << 20,
    .min_cut_copy = 128,           // few, so that tests have such copies
    .narrow_words_by_four = false, // HIP on threads has AMD's
    .copy_engines = {.to_host = {.earlier = 2600,
                                 .per_row = 1.3,
                                 .per_odd_row = 0.8,
                                 .kernel_per_byte = 0.0197,
                                 .row_per_byte = 0.0205,
                                 .list_block = 256 * 1024,
                                 .host_distance = 0},
                     .from_host = {.earlier = 2600,
                                   .per_row = 1.5,
                                   .per_odd_row = 0.8,
                                   .kernel_per_byte = 0.0203,
                                   .row_per_byte = 0.021,
                                   .list_block = 4096, // little, so that tests have such lists
                                   .host_distance = 128}},
};

inline constexpr bool runs_device_code = true; // of ucd_device.h
inline constexpr bool captures_streams = true; // into graphs
inline constexpr bool has_contexts = false;    // of which each knows its own memory only

} // namespace ucd::UCD_GPU
