// Properties of a vendor's devices, and thresholds measured on them. Each vendor's folder has a
// tuning.h with its values as `constexpr ucd::gpu::Tuning tuning`: plans take them as an argument,
// kernels and launches as constants.
#pragma once

#include "plan/copy_engines.h"

#include <cstdint>

namespace ucd::gpu {

struct Tuning {
    // Properties of the hardware.
    uint32_t warp_lanes;      // threads of a warp
    uint32_t sector_bytes;    // unit of memory accesses
    uint32_t line_bytes;      // cache line
    uint32_t parameter_bytes; // limit of a launch's parameters
    // Measured values.
    uint64_t min_tiled;           // least number of rows and columns for which tiles pay
    uint64_t min_store_words;     // least mean words of an aligned store for which it pays
    uint64_t many_threads;        // from here on a thread takes several words or vectors
    uint64_t cached_bytes;        // up to here a move's data comes from a cache
    uint64_t long_run_bytes;      // least listed runs for which two vectors per thread pay
    uint32_t host_blocks;         // blocks that saturate the bus to the host, per processor
    uint32_t min_members_batched; // fewer reductions or copies are launched one by one
    uint64_t min_cut_copy;        // least bytes of a range that is copied in several launches
    // For words of 1 and 2 bytes in nests, a thread finds the addresses of four words at a time
    // rather than those of a vector: kernels have half the size, for a tenth of the bandwidth.
    bool narrow_words_by_four;
    CopyEngines copy_engines; // unless UCD_TUNING's file has values for the device
};

} // namespace ucd::gpu
