#include "preload/settings.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ucd_mpi {
namespace {

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
    const char *statistics = secure_getenv("UCD_MPI_STATS");
    s.statistics = statistics != nullptr && std::strcmp(statistics, "1") == 0;
    return s;
}

const Settings loaded = read_settings();

} // namespace

const Settings &settings() {
    return loaded;
}

} // namespace ucd_mpi
