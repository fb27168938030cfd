// Counts of calls and bytes, for UCD_MPI_STATS=1. Otherwise nothing is counted.
#pragma once

#include "calls.h"
#include "preload/settings.h"

#include <cstdint>

namespace ucd_mpi {

enum class Counted { taken, passed, bytes, on_device };
void count(Call call, Counted what, std::uint64_t more);

// Count a call whose data this library packs, and one that is left to MPI.
inline void count_taken(Call call) {
    if (settings().statistics) [[unlikely]]
        count(call, Counted::taken, 1);
}
inline void count_passed(Call call) {
    if (settings().statistics) [[unlikely]]
        count(call, Counted::passed, 1);
}
// Counts bytes that UCD packed or unpacked.
inline void count_moved(Call call, std::uintptr_t bytes) {
    if (settings().statistics) [[unlikely]]
        count(call, Counted::bytes, bytes);
}

// Counts a message, or a side of a collective call, that is packed in a device's memory.
inline void count_on_device(Call call) {
    if (settings().statistics) [[unlikely]]
        count(call, Counted::on_device, 1);
}

// Prints to stderr, once, if UCD_MPI_STATS is set. Call while MPI is still initialised. `rank` is
// negative in a program that has sessions only.
void print_statistics(int rank);

} // namespace ucd_mpi
