// Measures how fast UCD and MPI move data of one type, in memory that this library allocates.
#pragma once

#include "types/c_mpi.h"

#include <ucd.h>

#include <cstdint>
#include <optional>

namespace ucd_mpi {

// Seconds for each byte. `mpi` and `ucd` are the sum of packing and unpacking, `copy` is one
// memcpy.
struct Comparison {
    double mpi = 0, ucd = 0, copy = 0;
    double first_use = 0; // extra seconds that UCD's first calls with the type took
};

struct Effort {
    std::uintptr_t max_bytes; // moved at once
    MPI_Count max_span;       // of memory, from the first byte of the items to the last
    int rounds;               // at least 2; the shortest time counts
};
inline constexpr Effort thorough = {256 << 10, 64 << 20, 5}; // takes some milliseconds
inline constexpr Effort brief = {64 << 10, 4 << 20, 2};      // takes up to four milliseconds

// `bytes` is the usual size of one move. Returns nothing if the type's span exceeds the limit, or
// if MPI fails.
std::optional<Comparison> compare(MPI_Datatype datatype, ucd_type_t type, std::uintptr_t bytes,
                                  const Effort &effort);

// Nanoseconds that UCD saves of MPI's time for a message.
struct Gain {
    double per_byte = 0;  // each byte is packed or unpacked once
    double first_use = 0; // lost in the first calls with a type

    // The number of bytes from which on reading a type pays, if reading takes that long.
    std::uint64_t bytes_to_pay(std::uint64_t nanoseconds) const;
};

// Measures the gain for a datatype; `type` is the UCD type that it was converted to. Returns
// nothing in the cases that `compare` names.
std::optional<Gain> measure_gain(MPI_Datatype datatype, ucd_type_t type);

} // namespace ucd_mpi
