// The runtime that gpu_common needs, over Level Zero. As in other runtimes, a thread has a current
// device, streams run in order, and an event can be recorded any number of times. Everything is in
// one context, which context.h chooses.
#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ucd::ze {

class Stream;
class StreamPoint;
struct LoadedKernel;

// A kernel of this build; its address is the handle for launches.
struct Kernel {
    const char *name;
    std::size_t param_bytes;
    mutable std::atomic<LoadedKernel *> loaded{nullptr}; // a list with one for each device
};

struct dim3 {
    unsigned x;
    explicit dim3(unsigned n) : x(n) {}
};

} // namespace ucd::ze

using gpuError_t = ze_result_t;
using gpuStream_t = ucd::ze::Stream *;
using gpuEvent_t = ucd::ze::StreamPoint *;
// A handle of memory for other processes on the same machine.
struct gpuIpcMemHandle_t {
    ze_ipc_mem_handle_t native; // begins with a descriptor of `process`
    int32_t process;
    uint32_t file; // a hash of the descriptor's file
};
enum gpuMemcpyKind { gpuMemcpyDefault, gpuMemcpyByEngine };
enum gpuStreamCaptureStatus { gpuStreamCaptureStatusNone };
enum gpuStreamCaptureMode { gpuStreamCaptureModeRelaxed };
struct gpuFuncAttributes {};
struct gpuPitchedPtr {
    void *ptr;
    std::size_t pitch, xsize, ysize;
};
struct gpuExtent {
    std::size_t width, height, depth;
};
struct gpuMemcpy3DParms {
    gpuPitchedPtr srcPtr, dstPtr;
    gpuExtent extent;
    gpuMemcpyKind kind;
};

inline constexpr gpuError_t gpuSuccess = ZE_RESULT_SUCCESS, gpuErrorNotReady = ZE_RESULT_NOT_READY,
                            gpuErrorMemoryAllocation = ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                            gpuErrorInvalidValue = ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            gpuErrorNotSupported = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                            // Peer access need not be enabled, so no call returns this.
    gpuErrorPeerAccessAlreadyEnabled = ZE_RESULT_FORCE_UINT32;
inline constexpr unsigned gpuStreamNonBlocking = 0, gpuEventDisableTiming = 0,
                          gpuHostAllocPortable = 0, gpuIpcMemLazyEnablePeerAccess = 0;
inline constexpr int gpuDevAttrMultiProcessorCount = 0;

const char *gpuGetErrorString(gpuError_t error);
inline gpuError_t gpuGetLastError() {
    return gpuSuccess; // no call stores an error
}

gpuError_t gpuDeviceGetAttribute(int *value, int attribute, int device);
gpuError_t gpuDeviceGetStreamPriorityRange(int *lowest, int *highest);
gpuError_t gpuDeviceCanAccessPeer(int *can, int device, int other);
gpuError_t gpuDeviceEnablePeerAccess(int other, unsigned flags);

gpuError_t gpuStreamCreateWithPriority(gpuStream_t *stream, unsigned flags, int priority);
gpuError_t gpuStreamDestroy(gpuStream_t stream);
gpuError_t gpuStreamQuery(gpuStream_t stream);
gpuError_t gpuStreamSynchronize(gpuStream_t stream);
gpuError_t gpuStreamWaitEvent(gpuStream_t stream, gpuEvent_t event);

gpuError_t gpuEventCreateWithFlags(gpuEvent_t *event, unsigned flags);
gpuError_t gpuEventRecord(gpuEvent_t event, gpuStream_t stream);
gpuError_t gpuEventQuery(gpuEvent_t event);
gpuError_t gpuEventSynchronize(gpuEvent_t event);
gpuError_t gpuEventDestroy(gpuEvent_t event);

gpuError_t gpuMalloc(void **memory, std::size_t bytes);
gpuError_t gpuFree(void *memory);
gpuError_t gpuHostAlloc(void **memory, std::size_t bytes, unsigned flags);
gpuError_t gpuHostFree(void *memory);
gpuError_t gpuIpcGetMemHandle(gpuIpcMemHandle_t *handle, void *memory);
gpuError_t gpuIpcOpenMemHandle(void **memory, gpuIpcMemHandle_t handle, unsigned flags);
gpuError_t gpuIpcCloseMemHandle(void *memory);

gpuError_t gpuMemcpyAsync(void *to, const void *from, std::size_t bytes, gpuMemcpyKind kind,
                          gpuStream_t stream);
gpuError_t gpuMemcpy2DAsync(void *to, std::size_t to_pitch, const void *from,
                            std::size_t from_pitch, std::size_t width, std::size_t height,
                            gpuMemcpyKind kind, gpuStream_t stream);
gpuError_t gpuMemcpy3DAsync(const gpuMemcpy3DParms *copy, gpuStream_t stream);

gpuError_t gpuLaunchKernel(const void *kernel, ucd::ze::dim3 blocks, ucd::ze::dim3 threads,
                           void **arguments, std::size_t shared, gpuStream_t stream);
gpuError_t gpuFuncGetAttributes(gpuFuncAttributes *attributes, const void *kernel);

// Streams cannot be captured, so these are never called.
inline gpuError_t gpuStreamIsCapturing(gpuStream_t, gpuStreamCaptureStatus *) {
    return gpuErrorNotSupported;
}
inline gpuError_t gpuThreadExchangeStreamCaptureMode(gpuStreamCaptureMode *) {
    return gpuErrorNotSupported;
}

// Only the tests use these.
gpuError_t gpuGetDeviceCount(int *devices);
gpuError_t gpuSetDevice(int device);
gpuError_t gpuMallocManaged(void **memory, std::size_t bytes);
gpuError_t gpuMemcpy(void *to, const void *from, std::size_t bytes, gpuMemcpyKind kind);
