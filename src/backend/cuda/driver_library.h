// libcuda.so.1, loaded at run time: the driver functions for which the runtime has no equivalent.
#pragma once

#include <cuda.h>

#include <string>

namespace ucd::cuda {

struct DriverLibrary {
    // If not empty, the reason why the members below are null.
    std::string missing;

    decltype(&cuInit) init = nullptr;
    decltype(&cuDriverGetVersion) driver_get_version = nullptr;
    decltype(&cuGetErrorString) get_error_string = nullptr;
    decltype(&cuDeviceGetCount) device_get_count = nullptr;
    decltype(&cuDeviceGet) device_get = nullptr;
    decltype(&cuDeviceGetName) device_get_name = nullptr;
    decltype(&cuDeviceGetAttribute) device_get_attribute = nullptr;
    decltype(&cuDevicePrimaryCtxRetain) primary_ctx_retain = nullptr;
    decltype(&cuDevicePrimaryCtxRelease) primary_ctx_release = nullptr;
    decltype(&cuDevicePrimaryCtxGetState) primary_ctx_get_state = nullptr;
    decltype(&cuCtxGetCurrent) ctx_get_current = nullptr;
    decltype(&cuCtxPushCurrent) ctx_push_current = nullptr;
    decltype(&cuCtxPopCurrent) ctx_pop_current = nullptr;
    decltype(&cuCtxGetDevice) ctx_get_device = nullptr;
    decltype(&cuStreamGetCtx) stream_get_ctx = nullptr;
    decltype(&cuPointerGetAttributes) pointer_get_attributes = nullptr;
    decltype(&cuMemGetAddressRange) mem_get_address_range = nullptr;
    decltype(&cuMemGetAccess) mem_get_access = nullptr;
    decltype(&cuMemPoolGetAccess) mem_pool_get_access = nullptr;

    // Loads the library once. Does not initialise the driver.
    static const DriverLibrary &instance();

    std::string text_of(CUresult result) const;
};

} // namespace ucd::cuda
