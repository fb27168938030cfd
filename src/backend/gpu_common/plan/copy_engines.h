// Which is done sooner between device and pinned memory, a copy engine or a kernel.
// docs/internals/decisions/0027-copy-engines.md has the measurements behind this model.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ucd::gpu {

// The figures of a direction, in nanoseconds; those of a tuning file (docs/reference/tuning.md).
struct CopyEngine {
    double earlier;         // by so much the engine starts before a kernel would
    double per_row;         // at least, that the engine takes for a row
    double per_odd_row;     // what a row that is not aligned costs the engine besides its bytes
    double kernel_per_byte; // that a kernel moves
    double row_per_byte;    // that the engine moves in rows of up to `long_row` bytes
    double list_block;      // bytes of a list's shortest block from which on the engine is faster
};

struct CopyEngines {
    CopyEngine to_host, from_host;
    // What is no device's own. Rows of `long_row` bytes and more are as fast as memory allows, and
    // need no alignment.
    uint64_t row_alignment = 16, long_row = 1000; // bytes
};

// Without measurements: for one row, and for rows that no engine feels, aligned ones of 4 KiB or
// more.
inline constexpr CopyEngine unmeasured_engine = {.earlier = 80,
                                                 .per_row = 80,
                                                 .per_odd_row = 80,
                                                 .kernel_per_byte = 0.02,
                                                 .row_per_byte = 0.02,
                                                 .list_block = 1e18};

// Rows of one copy; `bits`: of all of its addresses and distances.
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
