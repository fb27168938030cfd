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
    decltype(&cuMemRetainAllocationHandle) mem_retain_handle = nullptr;
    decltype(&cuMemRelease) mem_release_handle = nullptr;
    decltype(&cuMemGetAllocationPropertiesFromHandle) mem_get_properties = nullptr;
    decltype(&cuMemGetAllocationGranularity) mem_get_granularity = nullptr;
    decltype(&cuMemExportToShareableHandle) mem_export = nullptr;
    decltype(&cuMemImportFromShareableHandle) mem_import = nullptr;
    decltype(&cuMemAddressReserve) mem_address_reserve = nullptr;
    decltype(&cuMemAddressFree) mem_address_free = nullptr;
    decltype(&cuMemMap) mem_map = nullptr;
    decltype(&cuMemUnmap) mem_unmap = nullptr;
    decltype(&cuMemSetAccess) mem_set_access = nullptr;
    decltype(&cuMemPoolExportToShareableHandle) mem_pool_export = nullptr;
    decltype(&cuMemPoolImportFromShareableHandle) mem_pool_import = nullptr;
    decltype(&cuMemPoolExportPointer) mem_pool_export_pointer = nullptr;
    decltype(&cuMemPoolImportPointer) mem_pool_import_pointer = nullptr;
    decltype(&cuMemPoolSetAccess) mem_pool_set_access = nullptr;
    decltype(&cuMemPoolDestroy) mem_pool_destroy = nullptr;
    decltype(&cuMemFree) mem_free = nullptr;

    // Loads the library once. Does not initialise the driver.
    static const DriverLibrary &instance();

    std::string text_of(CUresult result) const;
};

} // namespace ucd::cuda
