// What the devices of a vendor have, and what was measured on them. Each vendor's folder has a
// tuning.h with its values as `constexpr ucd::gpu::Tuning tuning`: plans take them as an argument,
// kernels and launches as constants.
#pragma once

#include "plan/copy_engines.h"

#include <cstdint>

namespace ucd::gpu {

struct Tuning {
    // The hardware.
    uint32_t warp_lanes;      // threads that run in step
    uint32_t sector_bytes;    // what a device reads and writes memory by
    uint32_t line_bytes;      // of its caches
    uint32_t parameter_bytes; // that every launch takes
    // What is measured.
    uint32_t tile_side;           // elements of a tile that is transposed, each way
    uint64_t min_tiled;           // rows and columns for which tiles pay
    uint64_t min_store_words;     // of an average aligned store, for which it pays
    uint64_t many_threads;        // from which on a thread takes several words or vectors
    uint64_t cached_bytes;        // up to which a move's data comes from a cache
    uint64_t long_run_bytes;      // of listed runs, for which two vectors a thread pay
    uint32_t host_blocks;         // a processor needs these to saturate the bus to the host
    uint32_t min_members_batched; // fewer reductions or copies are launched one by one
    uint64_t min_cut_copy;        // bytes of a range that is copied in several launches
    // Of words of 1 and 2 bytes in nests, a thread finds the places of four at once, rather than of
    // a vector: kernels of half the size, for a tenth of the bandwidth.
    bool narrow_words_by_four;
    CopyEngines copy_engines; // unless UCD_TUNING names a file that knows the device
};

} // namespace ucd::gpu
