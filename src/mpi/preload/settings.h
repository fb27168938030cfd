// The settings of the environment variables UCD_MPI, UCD_MPI_ALWAYS, UCD_MPI_STATS,
// UCD_MPI_GPU_AWARE and UCD_MPI_GPU_WAY, read when the library is loaded.
#pragma once

#include <optional>

namespace ucd_mpi {

// Who packs data with gaps in device memory that MPI reads, and where.
enum class DeviceWay : int {
    device, // this library, in the device's memory, which it gives to MPI
    host,   // this library, in pinned host memory
    mpi,    // MPI
};

struct Settings {
    bool pack = true;     // MPI_Pack, MPI_Unpack are taken over
    bool messages = true; // so are messages and collective calls
    bool always = false;  // whatever can be taken over is, whether that pays or not
    bool statistics = false;
    std::optional<bool> gpu_aware;    // whether MPI reads device memory; if unset, MPI is asked
    std::optional<DeviceWay> gpu_way; // for all messages; if unset, the MPI library's table decides
};

extern const Settings settings_at_start;
inline const Settings &settings() {
    return settings_at_start;
}

} // namespace ucd_mpi
