// Properties of AMD's devices. No threshold has been measured yet: where a comment says so, the
// value is a cautious choice.
#pragma once

#include "plan/tuning.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

inline constexpr gpu::Tuning tuning = {
    // The size of CDNA's wavefronts. RDNA's have 32 lanes: work for a warp of 64 threads is then
    // done by two wavefronts, each of which does half.
    .warp_lanes = 64,
    // Memory accesses have the size of half a cache line.
    .sector_bytes = 64,
    .line_bytes = 128,
    // HIP guarantees this size for every kernel.
    .parameter_bytes = 4096,

    // An MI250X runs 225,280 threads at a time on each of its devices, an MI300X 622,592.
    .many_threads = uint64_t{1} << 19,
    // The L2 cache of an MI200 has 8 MiB, those of an MI300 have 4 MiB each; not measured.
    .cached_bytes = uint64_t{4} << 20,
    // Not measured. With three levels, kernels use 66 vector registers rather than 216 (gfx90a),
    // and have half the code.
    .narrow_words_by_four = true,
    .copy_engines = {.to_host = gpu::unmeasured_engine,
                     .from_host = gpu::unmeasured_engine,
                     .row_alignment = 16,
                     .long_row = UINT64_MAX,
                     .long_odd_row = UINT64_MAX},
};

// Capabilities of the runtime.
inline constexpr bool runs_device_code = true; // of ucd_device.h
inline constexpr bool captures_streams = true; // into graphs
inline constexpr bool has_contexts = false;    // with memory of their own

} // namespace ucd::UCD_GPU
