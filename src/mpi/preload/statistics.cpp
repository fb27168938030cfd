#include "preload/statistics.h"

#include <cstdio>
#include <string>

namespace ucd_mpi {
namespace {

CallStatistics all[call_count];

} // namespace

CallStatistics &statistics_of(Call call) {
    return all[static_cast<int>(call)];
}

void print_statistics(int rank) {
    static std::atomic<bool> printed{false};
    if (!settings().statistics || printed.exchange(true)) return;
    std::string text; // written at once, so that lines of processes do not mix
    for (int i = 0; i < call_count; ++i) {
        const CallStatistics &s = all[i];
        if (s.taken + s.passed == 0) continue;
        char line[160];
        std::snprintf(line, sizeof line,
                      "libucd-mpi-preload: rank %d: MPI_%s: %llu taken over, %llu bytes; %llu "
                      "left to MPI\n",
                      rank, call_names[i], static_cast<unsigned long long>(s.taken),
                      static_cast<unsigned long long>(s.bytes),
                      static_cast<unsigned long long>(s.passed));
        text += line;
    }
    std::fputs(text.c_str(), stderr);
}

} // namespace ucd_mpi
