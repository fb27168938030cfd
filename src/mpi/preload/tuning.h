// Which calls this library takes over: what ucd-mpi-bench measured for each MPI library
// (tables/*.inc), and what each library needs besides.
#pragma once

#include "preload/settings.h"
#include "types/c_mpi.h"

#include <cstdint>
#include <span>

namespace ucd_mpi {

// How the data of a type lies in memory, in UCD's normalised order.
enum class Arrangement : std::uint8_t {
    loop,
    column,     // a loop whose stride is a multiple of 1 KiB: few cache sets, many pages
    nest,       // loops with many bytes for each step: MPI finds its place in them quickly
    transposed, // an outer loop has shorter strides than an inner one
    list,
    mixed, // elements of several kinds
};
inline constexpr std::uint64_t column_stride = 1 << 10; // bytes
inline constexpr std::uint64_t nest_step = 200;         // more bytes than these for a step

// Sizes of calls from which on, and up to which, this library is faster. Empty by default.
struct Sizes {
    std::uint64_t least = UINT64_MAX, most = 0;
    bool contain(std::uint64_t bytes) const { return least <= bytes && bytes <= most; }
};
// `pack` is for MPI_Pack and MPI_Unpack, `message` for messages, `collective` for the data to or
// from one other process in a collective call.
struct Gains {
    Sizes pack, message, collective;
};

// For types whose mean segment has at most so many bytes. Of the rows that fit, the first counts;
// types for which there is none are left to MPI.
struct TuningRow {
    Arrangement arrangement;
    std::uint64_t max_segment;
    Gains gains;
};

// For data in device memory that MPI reads, of types whose mean segment has at most so many bytes:
// sizes of messages that MPI packs fastest, and those that go fastest through the host's memory.
// All others are packed on the device.
struct DeviceTuningRow {
    std::uint64_t max_segment;
    Sizes by_mpi, by_host;
};

struct PreloadTuning {
    const char *library; // as MPI_Get_library_version begins
    int version;         // its first number
    // Reading a type may take a thirtieth of the time that MPI has moved it, where that is
    // quickest: MPI moves so many bytes before, and so many more for each number in the
    // constructors' lists.
    std::uint64_t bytes_before_reading, bytes_for_number;
    std::span<const TuningRow> rows;
    std::span<const DeviceTuningRow> device_rows; // in ascending order; none: always on the device

    Gains gains(Arrangement arrangement, std::uint64_t mean_segment) const;
    std::uint64_t least() const; // bytes of any call that is taken over
    DeviceWay device_way(std::uint64_t mean_segment, std::uint64_t bytes) const;
};

// That of the MPI library which this process runs. A library without measurements has no rows.
const PreloadTuning &tuning();

// That of a library by what MPI_Get_library_version says: the measured version that comes before
// the running one, or else the first.
const PreloadTuning &tuning_of(const char *library);

// The way that the user has set, or that of the table.
DeviceWay device_way(std::uint64_t mean_segment, std::uint64_t bytes);

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
