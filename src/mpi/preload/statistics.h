// Counts of calls and bytes, for UCD_MPI_STATS=1. Otherwise nothing is counted.
#pragma once

#include "calls.h"

#include <cstdint>

namespace ucd_mpi {

// Count a call whose data this library packs, and one that is left to MPI.
void count_taken(Call call);
void count_passed(Call call);
// Counts bytes that UCD packed or unpacked.
void count_moved(Call call, std::uintptr_t bytes);

// Prints to stderr, once, if UCD_MPI_STATS is set. Call while MPI is still initialised. `rank` is
// negative in a program that has sessions only.
void print_statistics(int rank);

} // namespace ucd_mpi
