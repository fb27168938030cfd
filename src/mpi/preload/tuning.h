// Measured thresholds from which on UCD moves data faster than MPI (docs/guide/mpi.md).
#pragma once

#include <cstdint>

namespace ucd_mpi {

// MPI moves this many bytes of a type before the type is read, which costs some microseconds.
inline constexpr std::uint64_t bytes_to_read_first = 8 << 10;
// The same, if reading did not pay for the last type of about the same size and extent.
inline constexpr std::uint64_t bytes_to_read_again = 1 << 20;
// Reading has paid off once this many bytes are moved for each nanosecond that it took. With this
// value it also pays off for types that UCD moves only a little faster than MPI.
inline constexpr std::uint64_t bytes_for_nanosecond = 16;
// Limits for the result of a measurement.
inline constexpr std::uint64_t min_bytes_to_read = 2 << 10;
inline constexpr std::uint64_t max_bytes_to_read = 16 << 20;
// Calls that move less data are left to MPI.
inline constexpr std::uintptr_t min_taken_bytes = 256;
// Types with a mean segment of at least this many bytes are left to MPI, which copies them as fast.
inline constexpr std::uintptr_t max_packed_segment = 4 << 10;

// A message that this library packs is copied once more than one that MPI packs into its fragments.
// Up to which lengths of segments and messages packing pays depends on how fast MPI packs.
// For collective calls, the maximum is for the data to or from one process, and the minimum for a
// whole buffer.
// MPICH and UCX cut a message into fragments of some KiB. For each fragment, MPICH walks to its
// start step by step, which takes long in lists and in single loops of many blocks, and hardly any
// time in nested loops.
// Conflict misses: blocks whose addresses differ by a multiple of a large power of two map to few
// cache sets. Packing is then bound by memory latency in both libraries, and the additional copy
// makes UCD slower; Open MPI packs such blocks faster if each is on a page of its own. Fewer blocks
// than min_blocks_in_conflict stay in the caches.
inline constexpr std::uint64_t min_blocks_in_conflict = 2048;
#ifdef OPEN_MPI
inline constexpr std::uintptr_t max_bytes_for_step = UINTPTR_MAX;
inline constexpr std::uintptr_t max_sent_stride = 1 << 10;
inline constexpr std::uintptr_t max_packed_stride = 4 << 10;
inline constexpr std::uintptr_t max_sent_segment = 32;
inline constexpr std::uintptr_t max_sent_bytes = 512 << 10;
inline constexpr std::uintptr_t max_collective_segment = 16;
inline constexpr std::uintptr_t max_collective_bytes = 256 << 10;
inline constexpr std::uintptr_t min_collective_bytes = 16 << 10;
#else
inline constexpr std::uintptr_t max_bytes_for_step = 200;
inline constexpr std::uintptr_t max_sent_stride = UINTPTR_MAX;
inline constexpr std::uintptr_t max_packed_stride = UINTPTR_MAX;
inline constexpr std::uintptr_t max_sent_segment = 64;
inline constexpr std::uintptr_t max_sent_bytes = UINTPTR_MAX;
inline constexpr std::uintptr_t max_collective_segment = 128;
inline constexpr std::uintptr_t max_collective_bytes = max_sent_bytes;
inline constexpr std::uintptr_t min_collective_bytes = 512;
#endif

// Whether MPI detects that a struct without gaps between members is contiguous although its extent
// was rounded up and then corrected by MPI_Type_create_resized. MPICH packs such a type member by
// member.
#ifdef OPEN_MPI
inline constexpr bool resized_is_contiguous = true;
#else
inline constexpr bool resized_is_contiguous = false;
#endif

// Whether MPI keeps derived types for as long as persistent collective calls and MPI_Isendrecv need
// them. MPICH 4.0 releases a reference that it does not hold, so that derived types are freed too
// early, no matter who created them. Predefined types are not reference counted.
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 50000000
inline constexpr bool schedules_keep_types = false;
#else
inline constexpr bool schedules_keep_types = true;
#endif

} // namespace ucd_mpi
