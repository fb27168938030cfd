// The settings of the environment variables UCD_MPI, UCD_MPI_ALWAYS, UCD_MPI_STATS and
// UCD_MPI_GPU_AWARE, read when the library is loaded.
#pragma once

#include <optional>

namespace ucd_mpi {

struct Settings {
    bool pack = true;     // MPI_Pack, MPI_Unpack are taken over
    bool messages = true; // so are messages and collective calls
    bool always = false;  // whatever can be taken over is, whether that pays or not
    bool statistics = false;
    std::optional<bool> gpu_aware; // whether MPI reads device memory; if unset, MPI is asked
};

extern const Settings settings_at_start;
inline const Settings &settings() {
    return settings_at_start;
}

} // namespace ucd_mpi
