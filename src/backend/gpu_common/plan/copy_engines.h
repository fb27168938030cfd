// A model of whether a copy engine or a kernel moves data between device and pinned memory sooner.
// docs/internals/decisions/gpu-kernels.md has the measurements behind it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ucd::gpu {

// The figures of one direction, in nanoseconds, as `ucd-bench --tune` prints them.
struct CopyEngine {
    double earlier;         // how much earlier than a kernel the engine starts
    double per_row;         // minimum time of the engine for a row
    double per_odd_row;     // additional time of the engine for an unaligned row
    double kernel_per_byte; // time of a kernel for a byte
    double row_per_byte;    // time of the engine for a byte in rows up to `long_row` bytes
    double list_block;      // least block size of a list for which the engine is faster
};

struct CopyEngines {
    CopyEngine to_host, from_host;
    // These do not depend on the device. Rows of at least `long_row` bytes are as fast as memory
    // allows, and need no alignment.
    uint64_t row_alignment = 16, long_row = 1000; // bytes
};

// For devices without measurements: the engine is chosen for a single row, and for rows that are
// cheap on any engine, which are aligned ones of at least 4 KiB.
inline constexpr CopyEngine unmeasured_engine = {.earlier = 80,
                                                 .per_row = 80,
                                                 .per_odd_row = 80,
                                                 .kernel_per_byte = 0.02,
                                                 .row_per_byte = 0.02,
                                                 .list_block = 1e18};

// `row` and `rows` are size and number of the rows of one copy; `bits` is the bitwise or of all its
// addresses and distances.
inline bool is_engine_faster(const CopyEngines &engines, bool to_host, uint64_t row, uint64_t rows,
                             uint64_t bits) {
    const CopyEngine &e = to_host ? engines.to_host : engines.from_host;
    if (row >= engines.long_row) return true;
    const auto bytes = static_cast<double>(row);
    const double by_kernel = bytes * e.kernel_per_byte;
    double by_engine = std::max(e.per_row, bytes * e.row_per_byte);
    if (bits % engines.row_alignment != 0)
        by_engine = std::max(by_engine, by_kernel + e.per_odd_row);
    return static_cast<double>(rows) * (by_engine - by_kernel) <= e.earlier;
}

} // namespace ucd::gpu
