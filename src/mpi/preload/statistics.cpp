#include "preload/statistics.h"

#include "preload/settings.h"

#include <atomic>
#include <cstdio>
#include <string>

namespace ucd_mpi {
namespace {

struct Counts {
    std::atomic<std::uint64_t> taken{0}, passed{0}, bytes{0};
};
Counts counts[call_count];

Counts &counts_of(Call call) {
    return counts[static_cast<int>(call)];
}

void add(std::atomic<std::uint64_t> &count, std::uint64_t more) {
    if (settings().statistics) count.fetch_add(more, std::memory_order_relaxed);
}

} // namespace

void count_taken(Call call) {
    add(counts_of(call).taken, 1);
}

void count_passed(Call call) {
    add(counts_of(call).passed, 1);
}

void count_moved(Call call, std::uintptr_t bytes) {
    add(counts_of(call).bytes, bytes);
}

void print_statistics(int rank) {
    static std::atomic<bool> printed{false};
    if (!settings().statistics || printed.exchange(true)) return;
    std::string text;
    for (int i = 0; i < call_count; ++i) {
        const std::uint64_t taken = counts[i].taken, passed = counts[i].passed;
        if (taken + passed == 0) continue;
        text += "libucd-mpi-preload: ";
        if (rank >= 0) text += "rank " + std::to_string(rank) + ": ";
        text += std::string("MPI_") + call_names[i] + ": " + std::to_string(taken) +
                " taken over, " + std::to_string(counts[i].bytes) + " bytes; " +
                std::to_string(passed) + " left to MPI\n";
    }
    // Writes in one call, so that lines of different processes are less likely to mix.
    std::fputs(text.c_str(), stderr);
}

} // namespace ucd_mpi
