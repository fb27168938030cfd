#include "driver_library.h"

#include <dlfcn.h>

namespace ucd::cuda {
namespace {

template <class Function>
void find(void *library, const char *name, Function &function, std::string &missing) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function == nullptr && missing.empty())
        missing = std::string("the driver's libcuda.so.1 is too old: it has no ") + name;
}

DriverLibrary load() {
    DriverLibrary l;
    // Never closed: other code in the process may use it, and it cannot be unloaded once
    // initialised.
    void *library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        l.missing = "there is no NVIDIA driver: libcuda.so.1 was not found";
        return l;
    }
// cuda.h maps some functions to names with version suffixes, which the text then has.
#define UCD_CUDA_TEXT(function) #function
#define UCD_CUDA_FIND(member, function) find(library, UCD_CUDA_TEXT(function), l.member, l.missing)
#define UCD_CUDA_FIND_IF_THERE(member, function)                                                   \
    find(library, UCD_CUDA_TEXT(function), l.member, ignored)
    std::string ignored;
    UCD_CUDA_CALLS(UCD_CUDA_FIND);
    UCD_CUDA_FIND_IF_THERE(device_get_uuid, cuDeviceGetUuid);
#undef UCD_CUDA_FIND_IF_THERE
#undef UCD_CUDA_FIND
#undef UCD_CUDA_TEXT
    return l;
}

} // namespace

const DriverLibrary &DriverLibrary::instance() {
    static const DriverLibrary *library = new DriverLibrary(load()); // never destroyed
    return *library;
}

std::string DriverLibrary::text_of(CUresult result) const {
    const char *text = nullptr;
    if (get_error_string(result, &text) != CUDA_SUCCESS || text == nullptr)
        return "error " + std::to_string(static_cast<int>(result));
    return text;
}

Status check(CUresult result, const char *what) {
    if (result == CUDA_SUCCESS) return success;
    return fail(result == CUDA_ERROR_OUT_OF_MEMORY ? UCD_ERR__OUT_OF_MEM : UCD_ERR__DEVICE,
                "CUDA: %s failed: %s", what, DriverLibrary::instance().text_of(result).c_str());
}

} // namespace ucd::cuda
