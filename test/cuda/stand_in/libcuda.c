/* What stands in for NVIDIA's driver library where the backend is tested for what it says of a
 * driver or a device that will not do. UCD_STAND_IN says which; each call is a line in the file
 * UCD_STAND_IN_LOG. There is no device behind it: whoever wants to use one is refused. */

#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIVER __attribute__((visibility("default"))) CUresult

static int is(const char *what) {
    const char *wanted = getenv("UCD_STAND_IN");
    return wanted != NULL && strcmp(wanted, what) == 0;
}

static void log_call(const char *function) {
    const char *name = getenv("UCD_STAND_IN_LOG");
    FILE *file = name != NULL ? fopen(name, "a") : NULL;
    if (file == NULL) return;
    fprintf(file, "%s\n", function);
    fclose(file);
}

DRIVER cuInit(unsigned flags) {
    (void)flags;
    log_call(__func__);
    return is("broken") ? CUDA_ERROR_SYSTEM_DRIVER_MISMATCH : CUDA_SUCCESS;
}

DRIVER cuDriverGetVersion(int *version) {
    log_call(__func__);
    *version = is("old") ? CUDA_VERSION / 1000 * 1000 - 1000 + 40 : CUDA_VERSION;
    return CUDA_SUCCESS;
}

DRIVER cuGetErrorString(CUresult error, const char **text) {
    *text = error == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH ? "driver mismatch"
            : error == CUDA_ERROR_DEVICE_UNAVAILABLE   ? "device busy"
            : error == CUDA_ERROR_OUT_OF_MEMORY        ? "out of memory"
                                                       : "some error";
    return CUDA_SUCCESS;
}

DRIVER cuDeviceGetCount(int *count) {
    log_call(__func__);
    *count = is("no device") ? 0 : is("two") ? 2 : 1;
    return CUDA_SUCCESS;
}

DRIVER cuDeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return CUDA_SUCCESS;
}

DRIVER cuDeviceGetName(char *name, int length, CUdevice device) {
    (void)device;
    snprintf(name, (size_t)length, "stand-in");
    return CUDA_SUCCESS;
}

DRIVER cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    const int old = is("old device") || (is("two") && device == 0);
    *value = 0;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *value = old ? 3 : 12;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) *value = old ? 7 : 0;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)
        *value = is("prohibited")  ? CU_COMPUTEMODE_PROHIBITED
                 : is("exclusive") ? CU_COMPUTEMODE_EXCLUSIVE_PROCESS
                                   : CU_COMPUTEMODE_DEFAULT;
    return CUDA_SUCCESS;
}

DRIVER cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    (void)device;
    *flags = 0;
    *active = 0;
    return CUDA_SUCCESS;
}

DRIVER cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    (void)device;
    log_call(__func__);
    *context = NULL;
    return is("full") ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_DEVICE_UNAVAILABLE;
}

DRIVER cuDevicePrimaryCtxRelease(CUdevice device) {
    (void)device;
    return CUDA_SUCCESS;
}

DRIVER cuCtxGetCurrent(CUcontext *context) {
    *context = NULL;
    return CUDA_SUCCESS;
}

DRIVER cuCtxPushCurrent(CUcontext context) {
    (void)context;
    return CUDA_ERROR_INVALID_CONTEXT;
}

DRIVER cuCtxPopCurrent(CUcontext *context) {
    *context = NULL;
    return CUDA_ERROR_INVALID_CONTEXT;
}

DRIVER cuCtxGetDevice(CUdevice *device) {
    (void)device;
    return CUDA_ERROR_INVALID_CONTEXT;
}

DRIVER cuStreamGetCtx(CUstream stream, CUcontext *context) {
    (void)stream, (void)context;
    return CUDA_ERROR_INVALID_CONTEXT;
}

DRIVER cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    (void)stream, (void)status;
    return CUDA_ERROR_INVALID_CONTEXT;
}

DRIVER cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    (void)mode;
    return CUDA_ERROR_INVALID_CONTEXT;
}

DRIVER cuMemGetAddressRange(CUdeviceptr *start, size_t *bytes, CUdeviceptr pointer) {
    (void)start, (void)bytes, (void)pointer;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                      CUdeviceptr pointer) {
    (void)flags, (void)location, (void)pointer;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location) {
    (void)flags, (void)pool, (void)location;
    return CUDA_ERROR_NOT_INITIALIZED;
}

/* Nothing gets as far as to share memory. */
DRIVER cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
    (void)handle, (void)addr;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemRelease(CUmemGenericAllocationHandle handle) {
    (void)handle;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                              CUmemGenericAllocationHandle handle) {
    (void)prop, (void)handle;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                     CUmemAllocationGranularity_flags option) {
    (void)granularity, (void)prop, (void)option;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                    CUmemAllocationHandleType handleType,
                                    unsigned long long flags) {
    (void)shareableHandle, (void)handle, (void)handleType, (void)flags;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                      CUmemAllocationHandleType shHandleType) {
    (void)handle, (void)osHandle, (void)shHandleType;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                           unsigned long long flags) {
    (void)ptr, (void)size, (void)alignment, (void)addr, (void)flags;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemAddressFree(CUdeviceptr ptr, size_t size) {
    (void)ptr, (void)size;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                unsigned long long flags) {
    (void)ptr, (void)size, (void)offset, (void)handle, (void)flags;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemUnmap(CUdeviceptr ptr, size_t size) {
    (void)ptr, (void)size;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count) {
    (void)ptr, (void)size, (void)desc, (void)count;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
                                        CUmemAllocationHandleType handleType,
                                        unsigned long long flags) {
    (void)handle_out, (void)pool, (void)handleType, (void)flags;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                          CUmemAllocationHandleType handleType,
                                          unsigned long long flags) {
    (void)pool_out, (void)handle, (void)handleType, (void)flags;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr) {
    (void)shareData_out, (void)ptr;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool,
                              CUmemPoolPtrExportData *shareData) {
    (void)ptr_out, (void)pool, (void)shareData;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count) {
    (void)pool, (void)map, (void)count;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemPoolDestroy(CUmemoryPool pool) {
    (void)pool;
    return CUDA_ERROR_NOT_INITIALIZED;
}

DRIVER cuMemFree(CUdeviceptr dptr) {
    (void)dptr;
    return CUDA_ERROR_NOT_INITIALIZED;
}

#if !defined(UCD_STAND_IN_TOO_OLD)
DRIVER cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values,
                              CUdeviceptr pointer) {
    (void)count, (void)attributes, (void)values, (void)pointer;
    return CUDA_ERROR_NOT_INITIALIZED;
}
#endif
