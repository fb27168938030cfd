// How fast UCD and MPI move data of one type, measured in memory of this library.
#pragma once

#include "types/c_mpi.h"

#include <ucd.h>

#include <cstdint>
#include <optional>

namespace ucd_mpi {

// Times of a byte, in seconds. MPI's and UCD's are of packing it and unpacking it.
struct Comparison {
    double mpi = 0, ucd = 0, copy = 0;
    double first_use =
        0; // seconds that UCD's first calls with the type took longer than later ones
};

struct Effort {
    std::uintptr_t max_bytes; // moved at once
    MPI_Count max_span;       // of memory, from the first byte of the items to the last
    int rounds;               // at least 2, of which the shortest counts
};
inline constexpr Effort thorough = {256 << 10, 64 << 20, 5}; // takes some milliseconds
inline constexpr Effort brief = {64 << 10, 4 << 20, 2};      // takes up to four milliseconds

// `bytes` is how much is usually moved at once. Nothing if the type stretches too far, or MPI
// fails.
std::optional<Comparison> compare(MPI_Datatype datatype, ucd_type_t type, std::uintptr_t bytes,
                                  const Effort &effort);

// What UCD saves, in nanoseconds, of MPI's time for a message.
struct Gain {
    double per_byte = 0;  // packed or unpacked
    double first_use = 0; // lost by the first calls with a type

    // From how many bytes on it pays to read a type, if reading it takes so long.
    std::uint64_t bytes_to_pay(std::uint64_t nanoseconds) const;
};

// With this type: `type` is what was read of it. Nothing as above.
std::optional<Gain> measure_gain(MPI_Datatype datatype, ucd_type_t type);

} // namespace ucd_mpi
