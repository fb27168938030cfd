// Properties of Intel's devices. No threshold has been measured: where a comment says so, the value
// is a cautious choice.
#pragma once

#include "plan/tuning.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

inline constexpr gpu::Tuning tuning = {
    // The compiler chooses 8, 16 or 32 lanes for each kernel: work for a warp of 32 threads may
    // then be done by several hardware threads.
    .warp_lanes = 32,
    .sector_bytes = 64,
    .line_bytes = 64,
    // OpenCL guarantees this size for every kernel.
    .parameter_bytes = 1024,

    // A PVC has 1024 vector engines, each of which runs 8 threads of 16 lanes.
    .many_threads = uint64_t{1} << 17,
    // The L2 cache of a DG2 has 16 MiB, that of a PVC's stack 204 MiB; not measured.
    .cached_bytes = uint64_t{16} << 20,
    // Not measured. With sixteen words at a time, ocloc spills registers in some kernels of three
    // levels on a PVC.
    .narrow_words_by_four = true,
    .copy_engines = {.to_host = gpu::unmeasured_engine,
                     .from_host = gpu::unmeasured_engine,
                     .row_alignment = 64,
                     .long_row = UINT64_MAX,
                     .long_odd_row = UINT64_MAX},
};

// Capabilities of the runtime.
inline constexpr bool runs_device_code = false; // of ucd_device.h
inline constexpr bool captures_streams = false; // into graphs
inline constexpr bool has_contexts = true;      // with memory of their own

} // namespace ucd::UCD_GPU
