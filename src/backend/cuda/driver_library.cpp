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
    // Version suffixes are those that cuda.h maps the functions to.
    find(library, "cuInit", l.init, l.missing);
    find(library, "cuDriverGetVersion", l.driver_get_version, l.missing);
    find(library, "cuGetErrorString", l.get_error_string, l.missing);
    find(library, "cuDeviceGetCount", l.device_get_count, l.missing);
    find(library, "cuDeviceGet", l.device_get, l.missing);
    find(library, "cuDeviceGetName", l.device_get_name, l.missing);
    find(library, "cuDeviceGetAttribute", l.device_get_attribute, l.missing);
    find(library, "cuDevicePrimaryCtxRetain", l.primary_ctx_retain, l.missing);
    find(library, "cuDevicePrimaryCtxRelease_v2", l.primary_ctx_release, l.missing);
    find(library, "cuDevicePrimaryCtxGetState", l.primary_ctx_get_state, l.missing);
    find(library, "cuCtxGetCurrent", l.ctx_get_current, l.missing);
    find(library, "cuCtxPushCurrent_v2", l.ctx_push_current, l.missing);
    find(library, "cuCtxPopCurrent_v2", l.ctx_pop_current, l.missing);
    find(library, "cuCtxGetDevice", l.ctx_get_device, l.missing);
    find(library, "cuStreamGetCtx", l.stream_get_ctx, l.missing);
    find(library, "cuPointerGetAttributes", l.pointer_get_attributes, l.missing);
    find(library, "cuMemGetAddressRange_v2", l.mem_get_address_range, l.missing);
    find(library, "cuMemGetAccess", l.mem_get_access, l.missing);
    find(library, "cuMemPoolGetAccess", l.mem_pool_get_access, l.missing);
    find(library, "cuMemRetainAllocationHandle", l.mem_retain_handle, l.missing);
    find(library, "cuMemRelease", l.mem_release_handle, l.missing);
    find(library, "cuMemGetAllocationPropertiesFromHandle", l.mem_get_properties, l.missing);
    find(library, "cuMemGetAllocationGranularity", l.mem_get_granularity, l.missing);
    find(library, "cuMemExportToShareableHandle", l.mem_export, l.missing);
    find(library, "cuMemImportFromShareableHandle", l.mem_import, l.missing);
    find(library, "cuMemAddressReserve", l.mem_address_reserve, l.missing);
    find(library, "cuMemAddressFree", l.mem_address_free, l.missing);
    find(library, "cuMemMap", l.mem_map, l.missing);
    find(library, "cuMemUnmap", l.mem_unmap, l.missing);
    find(library, "cuMemSetAccess", l.mem_set_access, l.missing);
    find(library, "cuMemPoolExportToShareableHandle", l.mem_pool_export, l.missing);
    find(library, "cuMemPoolImportFromShareableHandle", l.mem_pool_import, l.missing);
    find(library, "cuMemPoolExportPointer", l.mem_pool_export_pointer, l.missing);
    find(library, "cuMemPoolImportPointer", l.mem_pool_import_pointer, l.missing);
    find(library, "cuMemPoolSetAccess", l.mem_pool_set_access, l.missing);
    find(library, "cuMemPoolDestroy", l.mem_pool_destroy, l.missing);
    find(library, "cuMemFree_v2", l.mem_free, l.missing);
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

} // namespace ucd::cuda
