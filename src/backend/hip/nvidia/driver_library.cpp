#include "driver_library.h"

#include <dlfcn.h>

namespace ucd::hip {
namespace {

// Never closed: other code in the process may use it, and it cannot be unloaded once initialised.
void *cuda_driver() {
    static void *const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library;
}

} // namespace

std::string missing_driver() {
    return cuda_driver() != nullptr ? "" : "there is no NVIDIA driver: libcuda.so.1 was not found";
}

// cuDeviceGetCount fails before any code has called cuInit.
bool is_initialised() {
    if (cuda_driver() == nullptr) return false;
    static const auto count =
        reinterpret_cast<decltype(&cuDeviceGetCount)>(::dlsym(cuda_driver(), "cuDeviceGetCount"));
    int devices = 0;
    return count != nullptr && count(&devices) == CUDA_SUCCESS;
}

} // namespace ucd::hip
