// libcuda.so.1, loaded at run time: the driver functions for which the runtime has no equivalent,
// or has one that takes longer.
#pragma once

#include "status.h"

#include <cuda.h>

#include <string>

namespace ucd::cuda {

// The functions of the driver that are used, and what they are called here.
#define UCD_CUDA_CALLS(call)                                                                       \
    call(init, cuInit);                                                                            \
    call(driver_get_version, cuDriverGetVersion);                                                  \
    call(get_error_string, cuGetErrorString);                                                      \
    call(device_get_count, cuDeviceGetCount);                                                      \
    call(device_get, cuDeviceGet);                                                                 \
    call(device_get_name, cuDeviceGetName);                                                        \
    call(device_get_attribute, cuDeviceGetAttribute);                                              \
    call(primary_ctx_retain, cuDevicePrimaryCtxRetain);                                            \
    call(primary_ctx_release, cuDevicePrimaryCtxRelease);                                          \
    call(primary_ctx_get_state, cuDevicePrimaryCtxGetState);                                       \
    call(ctx_get_current, cuCtxGetCurrent);                                                        \
    call(ctx_push_current, cuCtxPushCurrent);                                                      \
    call(ctx_pop_current, cuCtxPopCurrent);                                                        \
    call(ctx_get_device, cuCtxGetDevice);                                                          \
    call(stream_get_ctx, cuStreamGetCtx);                                                          \
    call(stream_is_capturing, cuStreamIsCapturing);                                                \
    call(exchange_capture_mode, cuThreadExchangeStreamCaptureMode);                                \
    call(pointer_get_attributes, cuPointerGetAttributes);                                          \
    call(mem_get_address_range, cuMemGetAddressRange);                                             \
    call(mem_get_access, cuMemGetAccess);                                                          \
    call(mem_pool_get_access, cuMemPoolGetAccess);                                                 \
    call(mem_retain_handle, cuMemRetainAllocationHandle);                                          \
    call(mem_release_handle, cuMemRelease);                                                        \
    call(mem_get_properties, cuMemGetAllocationPropertiesFromHandle);                              \
    call(mem_get_granularity, cuMemGetAllocationGranularity);                                      \
    call(mem_export, cuMemExportToShareableHandle);                                                \
    call(mem_import, cuMemImportFromShareableHandle);                                              \
    call(mem_address_reserve, cuMemAddressReserve);                                                \
    call(mem_address_free, cuMemAddressFree);                                                      \
    call(mem_map, cuMemMap);                                                                       \
    call(mem_unmap, cuMemUnmap);                                                                   \
    call(mem_set_access, cuMemSetAccess);                                                          \
    call(mem_pool_export, cuMemPoolExportToShareableHandle);                                       \
    call(mem_pool_import, cuMemPoolImportFromShareableHandle);                                     \
    call(mem_pool_export_pointer, cuMemPoolExportPointer);                                         \
    call(mem_pool_import_pointer, cuMemPoolImportPointer);                                         \
    call(mem_pool_set_access, cuMemPoolSetAccess);                                                 \
    call(mem_pool_destroy, cuMemPoolDestroy);                                                      \
    call(mem_free, cuMemFree)

struct DriverLibrary {
    // If not empty, the reason why the members below are null.
    std::string missing;

#define UCD_CUDA_POINTER(member, function) decltype(&function) member = nullptr
    UCD_CUDA_CALLS(UCD_CUDA_POINTER);
#undef UCD_CUDA_POINTER
    decltype(&cuDeviceGetUuid) device_get_uuid = nullptr; // not all drivers have it

    static const DriverLibrary &instance();

    std::string text_of(CUresult result) const;
};

Status check(CUresult result, const char *what);

} // namespace ucd::cuda
