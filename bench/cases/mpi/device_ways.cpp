#include "cases/mpi/device_ways.hpp"

#include <cstdlib>
#include <dlfcn.h>

namespace bench {

bool mpi_reads_devices() {
    const char *const said = std::getenv("UCD_MPI_GPU_AWARE");
    if (said != nullptr) return *said == '1';
    const auto ask = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
    return ask != nullptr && ask() == 1;
}

void set_way(DeviceWay way) {
    static const auto set =
        reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "ucd_mpi_preload_set_gpu_way"));
    if (set != nullptr) set(way);
}

Way by_way(DeviceWay way, const Way &typed) {
    return [way, typed] { set_way(way), typed(); };
}

} // namespace bench
