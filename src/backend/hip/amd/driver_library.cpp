#include "driver_library.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <hsa/hsa.h>
#include <unistd.h>

namespace ucd::hip {

std::string missing_driver() {
    constexpr const char *device = "/dev/kfd";
    if (::access(device, R_OK | W_OK) == 0) return "";
    if (errno == ENOENT) return "there is no AMD driver: /dev/kfd was not found";
    return std::string("/dev/kfd may not be used (is the user in the group render?): ") +
           std::strerror(errno);
}

// The ROCr library under HIP's runtime reports whether it is initialised. It never becomes
// uninitialised.
bool is_initialised() {
    static std::atomic<bool> initialised{false};
    if (initialised.load(std::memory_order_acquire)) [[likely]]
        return true;
    // HIP may load the library as late as at its own first use.
    void *library = ::dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) return false;
    const auto get_info =
        reinterpret_cast<decltype(&hsa_system_get_info)>(::dlsym(library, "hsa_system_get_info"));
    uint16_t version = 0;
    const bool is = get_info != nullptr &&
                    get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &version) == HSA_STATUS_SUCCESS;
    (void)::dlclose(library);
    if (is) initialised.store(true, std::memory_order_release);
    return is;
}

} // namespace ucd::hip
