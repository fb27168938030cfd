#include "preload/statistics.h"

#include <atomic>
#include <cstdio>
#include <string>

namespace ucd_mpi {
namespace {

std::atomic<std::uint64_t> counts[call_count][4];

std::uint64_t count_of(int call, Counted what) {
    return counts[call][static_cast<int>(what)];
}

} // namespace

void count(Call call, Counted what, std::uint64_t more) {
    counts[static_cast<int>(call)][static_cast<int>(what)].fetch_add(more,
                                                                     std::memory_order_relaxed);
}

void print_statistics(int rank) {
    static std::atomic<bool> printed{false};
    if (!settings().statistics || printed.exchange(true)) return;
    std::string text;
    for (int i = 0; i < call_count; ++i) {
        const std::uint64_t taken = count_of(i, Counted::taken),
                            passed = count_of(i, Counted::passed);
        if (taken + passed == 0) continue;
        text += "libucd-mpi-preload: ";
        if (rank >= 0) text += "rank " + std::to_string(rank) + ": ";
        text += std::string("MPI_") + call_names[i] + ": " + std::to_string(taken) +
                " taken over, " + std::to_string(count_of(i, Counted::bytes)) + " bytes; " +
                std::to_string(passed) + " left to MPI";
        if (const std::uint64_t here = count_of(i, Counted::on_device); here > 0)
            text += "; " + std::to_string(here) + " packed on a device";
        text += '\n';
    }
    // Writes in one call, so that lines of different processes are less likely to mix.
    std::fputs(text.c_str(), stderr);
}

} // namespace ucd_mpi
