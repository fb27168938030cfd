// A vendor whose devices are threads of the CPU, over the mock's driver: the very kernels and
// driver code of gpu_common, without a GPU. Device memory is strict, streams are in order, and
// whatever can fail does so when a test wants it.
#pragma once

#include <cstddef>
#include <cstdint>

#define UCD_GPU hostgpu

namespace mock {
class Stream;
}

namespace ucd::UCD_GPU {

inline constexpr const char *vendor_name = "hostgpu";
inline constexpr const char *runtime_name = "mock";

struct alignas(16) Quad {
    uint32_t x, y, z, w;
};

struct EventState;

struct dim3 {
    unsigned x;
    explicit dim3(unsigned n) : x(n) {}
};

} // namespace ucd::UCD_GPU

// The runtime --------------------------------------------------------------

enum gpuError_t {
    gpuSuccess,
    gpuErrorNotReady,
    gpuErrorMemoryAllocation,
    gpuErrorInvalidValue,
    gpuErrorNotSupported,
    gpuErrorPeerAccessAlreadyEnabled,
    gpuErrorRefused,
    gpuErrorInvalidHandle,
    gpuErrorInvalidConfiguration,
    gpuErrorFailed,
};
enum gpuMemcpyKind { gpuMemcpyDefault };
enum gpuStreamCaptureStatus { gpuStreamCaptureStatusNone, gpuStreamCaptureStatusActive };
enum gpuStreamCaptureMode { gpuStreamCaptureModeGlobal, gpuStreamCaptureModeRelaxed };
inline constexpr unsigned gpuStreamNonBlocking = 1, gpuEventDisableTiming = 2,
                          gpuHostAllocPortable = 1, gpuIpcMemLazyEnablePeerAccess = 1;

using gpuStream_t = mock::Stream *;
using gpuEvent_t = ucd::hostgpu::EventState *;
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
struct gpuIpcMemHandle_t {
    char bytes[64];
};

const char *gpuGetErrorString(gpuError_t error);
gpuError_t gpuGetLastError();
inline constexpr int gpuDevAttrMultiProcessorCount = 0;
gpuError_t gpuDeviceGetAttribute(int *value, int attribute, int device);
gpuError_t gpuDeviceGetStreamPriorityRange(int *lowest, int *highest);
gpuError_t gpuDeviceCanAccessPeer(int *can, int device, int other);
gpuError_t gpuDeviceEnablePeerAccess(int other, unsigned flags);
gpuError_t gpuStreamCreateWithPriority(gpuStream_t *stream, unsigned flags, int priority);
gpuError_t gpuStreamDestroy(gpuStream_t stream);
gpuError_t gpuStreamQuery(gpuStream_t stream);
gpuError_t gpuStreamSynchronize(gpuStream_t stream);
gpuError_t gpuStreamWaitEvent(gpuStream_t stream, gpuEvent_t event);
gpuError_t gpuStreamIsCapturing(gpuStream_t stream, gpuStreamCaptureStatus *status);
gpuError_t gpuThreadExchangeStreamCaptureMode(gpuStreamCaptureMode *mode);
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
gpuError_t gpuLaunchKernel(const void *kernel, ucd::hostgpu::dim3 blocks,
                           ucd::hostgpu::dim3 threads, void **arguments, std::size_t shared,
                           gpuStream_t stream);
gpuError_t gpuFuncGetAttributes(gpuFuncAttributes *attributes, const void *kernel);

#include "support/host_vendor/kernels.h"
