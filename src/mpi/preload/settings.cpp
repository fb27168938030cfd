#include "preload/settings.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ucd_mpi {
namespace {

std::optional<DeviceWay> read_way(const char *name) {
    constexpr const char *names[] = {"device", "host", "mpi"}; // in the order of DeviceWay
    if (name == nullptr) return std::nullopt;
    for (int way = 0; way < 3; ++way)
        if (std::strcmp(name, names[way]) == 0) return static_cast<DeviceWay>(way);
    std::fprintf(stderr,
                 "libucd-mpi-preload: UCD_MPI_GPU_WAY is %s; it must be device, host or mpi\n",
                 name);
    return std::nullopt;
}

Settings read_settings() {
    Settings s;
    const char *mode = secure_getenv("UCD_MPI");
    if (mode != nullptr && std::strcmp(mode, "off") == 0)
        s.pack = s.messages = false;
    else if (mode != nullptr && std::strcmp(mode, "pack") == 0)
        s.messages = false;
    else if (mode != nullptr && std::strcmp(mode, "all") != 0)
        std::fprintf(stderr, "libucd-mpi-preload: UCD_MPI is %s; it must be off, pack or all\n",
                     mode);
    const char *always = secure_getenv("UCD_MPI_ALWAYS");
    s.always = always != nullptr && std::strcmp(always, "1") == 0;
    const char *statistics = secure_getenv("UCD_MPI_STATS");
    s.statistics = statistics != nullptr && std::strcmp(statistics, "1") == 0;
    const char *aware = secure_getenv("UCD_MPI_GPU_AWARE");
    if (aware != nullptr && (std::strcmp(aware, "0") == 0 || std::strcmp(aware, "1") == 0))
        s.gpu_aware = *aware == '1';
    else if (aware != nullptr)
        std::fprintf(stderr, "libucd-mpi-preload: UCD_MPI_GPU_AWARE is %s; it must be 0 or 1\n",
                     aware);
    s.gpu_way = read_way(secure_getenv("UCD_MPI_GPU_WAY"));
    return s;
}

} // namespace

const Settings settings_at_start = read_settings();

} // namespace ucd_mpi
