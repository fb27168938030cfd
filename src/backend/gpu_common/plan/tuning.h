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
    // Measured values. Those that are set here were measured on an H200, and are not known to
    // differ elsewhere.
    //
    // The least number of rows and columns for which tiles pay. A warp accesses one line of a tile,
    // so that each lane uses a different bank of shared memory. With fewer rows or columns, most
    // tiles are at edges, which are moved without shared memory.
    uint64_t min_tiled = 8;
    // The least mean words of an aligned store for which it pays: unpacking structs of 17 bytes at
    // a stride of 24 is then faster than a hand-written kernel (docs/measurements/performance.md).
    uint64_t min_store_words = 2;
    uint64_t many_threads; // from here on a thread takes several words or vectors
    uint64_t cached_bytes; // up to here a move's data comes from a cache
    // The least listed runs for which two vectors per thread pay: most threads have both vectors in
    // one run, so one search serves two vectors.
    uint64_t long_run_bytes = 512;
    // Blocks that saturate the bus to the host, per processor. With 8-byte blocks at stride 512 to
    // pinned memory while other kernels keep the device busy, this is the smallest number that
    // loses less than a tenth (docs/internals/decisions/gpu-kernels.md).
    uint32_t host_blocks = 2;
    // Fewer reductions or copies are launched one by one: two launches take as long as one launch
    // whose table has to be uploaded first.
    uint32_t min_members_batched = 3;
    // The least bytes of a range that is copied in several launches. Not measured: about what is
    // copied in the time of two launches.
    uint64_t min_cut_copy = uint64_t{4} << 20;
    // For words of 1 and 2 bytes in nests, a thread finds the addresses of four words at a time
    // rather than those of a vector: kernels have half the size, for a tenth of the bandwidth.
    bool narrow_words_by_four;
    CopyEngines copy_engines;
};

} // namespace ucd::gpu
