// Statistics of the calls that were taken over, by call and by type, for UCD_MPI_STATS=1. Otherwise
// nothing is counted and no clock is read.
#pragma once

#include "calls.h"
#include "preload/settings.h"
#include "types/convert.h"

#include <chrono>
#include <cstdint>

namespace ucd_mpi {

// Count a call whose data this library packs, and one that is left to MPI.
void count_taken(Call call);
void count_passed(Call call);

// The row of the table for a type that is taken over. Types of one description share a row. The
// last row is for types that came when the table was full.
int statistics_row(MPI_Datatype datatype, const Converted &converted);

// Counts one packing or unpacking by UCD.
void count_moved(Call call, int row, std::uintptr_t bytes, std::chrono::nanoseconds time);

// `move(moved)` packs or unpacks, and sets how many bytes it moved.
template <class Move>
int counted_move(Call call, int row, Move move) {
    std::uintptr_t moved = 0;
    if (!settings().statistics) [[likely]]
        return move(&moved);
    const auto begin = std::chrono::steady_clock::now();
    const int rc = move(&moved);
    count_moved(call, row, moved, std::chrono::steady_clock::now() - begin);
    return rc;
}

// Prints to stderr, once, if UCD_MPI_STATS is set. Call while MPI is still initialised. `rank` is
// negative in a program that has sessions only.
void print_statistics(int rank);

} // namespace ucd_mpi
