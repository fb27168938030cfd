// When moving data by UCD is faster, by measurement (docs/guide/mpi.md).
#pragma once

#include <cstdint>

namespace ucd_mpi {

// So much data of a type is left to MPI before the type is read, which costs some microseconds.
inline constexpr std::uint64_t bytes_to_read_first = 8 << 10;
// So much, if reading did not pay for the last type of about the same size and extent.
inline constexpr std::uint64_t bytes_to_read_again = 1 << 20;
// Reading has paid if so many bytes are moved for each nanosecond that it took: so it does for
// types that UCD moves a little faster than MPI, too.
inline constexpr std::uint64_t bytes_for_nanosecond = 16;
// Bounds of what a measurement finds.
inline constexpr std::uint64_t min_bytes_to_read = 2 << 10;
inline constexpr std::uint64_t max_bytes_to_read = 16 << 20;
// Less data in one call is left to MPI.
inline constexpr std::uintptr_t min_taken_bytes = 256;
// Types whose segments are this long on the average are left to MPI: it copies them as fast.
inline constexpr std::uintptr_t max_packed_segment = 4 << 10;

// A message that is packed here is copied once more than one that MPI packs into its fragments. For
// how long segments and messages that pays depends on how fast MPI packs.
// In collective calls: of what goes to or comes from one process, and at least in a whole buffer.
// MPICH and UCX cut a message into pieces of some KiB. MPICH walks to the start of each one step by
// step, which takes long in lists and in single loops of many blocks, and hardly any time in nested
// loops.
// Blocks whose addresses differ by a multiple of a large power of two fall into few places of the
// caches. Then the processor waits for memory in both ways, and the copy more is all that differs;
// Open MPI packs such blocks faster if each is on a page of its own. Fewer blocks than these stay in
// the caches.
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

// Whether MPI knows that a struct without gaps between members is contiguous although its extent
// was rounded up, and was then set right by MPI_Type_create_resized. MPICH packs such a type member
// by member.
#ifdef OPEN_MPI
inline constexpr bool resized_is_contiguous = true;
#else
inline constexpr bool resized_is_contiguous = false;
#endif

// Whether MPI keeps derived types for as long as persistent collective calls and MPI_Isendrecv need
// them. MPICH 4.0 gives up a reference that it does not have, so that the types are freed too
// early, whoever's they are. Predefined types are not counted.
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 50000000
inline constexpr bool schedules_keep_types = false;
#else
inline constexpr bool schedules_keep_types = true;
#endif

} // namespace ucd_mpi
