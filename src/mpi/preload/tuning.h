// When moving data by UCD is faster, by measurement (docs/guide/mpi.md).
#pragma once

#include <cstdint>

namespace ucd_mpi {

// So much data of a type is left to MPI before the type is converted, which costs some
// microseconds.
inline constexpr std::uint64_t bytes_to_learn = 8 << 10;
// Less data in one call is left to MPI.
inline constexpr std::uintptr_t min_taken_bytes = 256;
// Types whose segments are this long on the average are left to MPI: it copies them as fast.
inline constexpr std::uintptr_t max_segment_bytes = 4 << 10;

} // namespace ucd_mpi
