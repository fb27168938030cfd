// A model of whether a copy engine or a kernel moves data between device and pinned memory sooner.
// docs/internals/decisions/gpu-kernels.md has the measurements behind it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ucd::gpu {

// The figures of one direction, in nanoseconds and bytes, as `ucd-bench --tune` and `ucd-bench
// --rows` find them.
struct CopyEngine {
    double earlier;         // how much earlier than a kernel the engine starts
    double per_row;         // minimum time of the engine for a row
    double per_odd_row;     // additional time of the engine for an unaligned row
    double kernel_per_byte; // time of a kernel for a byte
    double row_per_byte;    // time of the engine for a byte in rows that are not long
    double list_block;      // least block size of a list for which the engine is faster
    // From this distance of rows in host memory on, a kernel needs a transaction of the bus for
    // each row, or several, and the engine is never slower.
    uint64_t host_distance;
};

struct CopyEngines {
    CopyEngine to_host, from_host;
    // These do not depend on the device. Long rows are as fast as memory allows; unaligned ones
    // are if they are longer.
    uint64_t row_alignment = 64, long_row = 256, long_odd_row = 500; // bytes
};

// For devices without measurements: the engine is chosen for a single row, and for rows that are
// cheap on any engine, which are aligned ones of at least 4 KiB.
inline constexpr CopyEngine unmeasured_engine = {.earlier = 80,
                                                 .per_row = 80,
                                                 .per_odd_row = 80,
                                                 .kernel_per_byte = 0.02,
                                                 .row_per_byte = 0.02,
                                                 .list_block = 1e18,
                                                 .host_distance = UINT64_MAX};

// Rows that move between device and host memory in one copy.
struct RowsOfHost {
    bool to_host;
    uint64_t row, rows;     // bytes of one, and how many
    uint64_t apart_on_host; // their distance there; 0: they are consecutive
    uint64_t bits;          // bitwise or of the addresses and distances of the sides that are apart
};

inline bool is_engine_faster(const CopyEngines &engines, const RowsOfHost &r) {
    const CopyEngine &e = r.to_host ? engines.to_host : engines.from_host;
    const bool odd = r.bits % engines.row_alignment != 0;
    if (r.row >= (odd ? engines.long_odd_row : engines.long_row)) return true;
    if (r.apart_on_host > 0 && r.apart_on_host >= e.host_distance) return true;
    const auto bytes = static_cast<double>(r.row);
    const double by_kernel = bytes * e.kernel_per_byte;
    double by_engine = std::max(e.per_row, bytes * e.row_per_byte);
    if (odd) by_engine = std::max(by_engine, by_kernel + e.per_odd_row);
    return static_cast<double>(r.rows) * (by_engine - by_kernel) <= e.earlier;
}

} // namespace ucd::gpu
