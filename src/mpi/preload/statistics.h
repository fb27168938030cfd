// What was taken over, by call, for UCD_MPI_STATS=1.
#pragma once

#include "calls.h"
#include "preload/settings.h"

#include <atomic>
#include <cstdint>

namespace ucd_mpi {

struct CallStatistics {
    std::atomic<std::uint64_t> taken{0}, bytes{0}, passed{0};
};
CallStatistics &statistics_of(Call call);

inline void count_taken(Call call, std::uint64_t bytes) {
    if (!settings().statistics) return;
    statistics_of(call).taken.fetch_add(1, std::memory_order_relaxed);
    statistics_of(call).bytes.fetch_add(bytes, std::memory_order_relaxed);
}
inline void count_passed(Call call) {
    if (settings().statistics) statistics_of(call).passed.fetch_add(1, std::memory_order_relaxed);
}

// To stderr, once; nothing unless the user wants it.
void print_statistics(int rank);

} // namespace ucd_mpi
