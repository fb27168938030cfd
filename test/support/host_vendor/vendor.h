// A vendor whose devices are threads of the CPU, over the mock's driver: the very kernels and
// driver code of gpu_common, without a GPU. Device memory is strict, streams are in order, and
// whatever can fail does so when a test wants it.
#pragma once

#include "half.h"

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

} // namespace ucd::UCD_GPU

// The runtime --------------------------------------------------------------

enum gpuError_t {
    gpuSuccess,
    gpuErrorNotReady,
    gpuErrorMemoryAllocation,
    gpuErrorPeerAccessAlreadyEnabled,
    gpuErrorRefused,
    gpuErrorInvalidHandle,
    gpuErrorFailed,
};
enum gpuMemcpyKind { gpuMemcpyDefault };
enum gpuStreamCaptureStatus { gpuStreamCaptureStatusNone, gpuStreamCaptureStatusActive };
enum gpuStreamCaptureMode { gpuStreamCaptureModeRelaxed };
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
struct dim3 {
    unsigned x;
    explicit dim3(unsigned n) : x(n) {}
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
gpuError_t gpuLaunchKernel(const void *kernel, dim3 blocks, dim3 threads, void **arguments,
                           std::size_t shared, gpuStream_t stream);
gpuError_t gpuFuncGetAttributes(gpuFuncAttributes *attributes, const void *kernel);

// Kernels --------------------------------------------------------------

namespace ucd::UCD_GPU {

// A kernel runs a block at a time, on the thread of its stream. What a block's threads do between
// two barriers is a loop over them.
struct Grid {
    uint32_t block = 0, blocks = 0;
};
extern thread_local Grid grid;

struct Kernel {
    const char *name;
    void (*run)(const void *params);
    std::size_t param_bytes;
};

// Where a device's thread finds the bytes of an address; throws for what is out of its reach.
void *device_memory(uintptr_t address, std::size_t bytes);

inline uint32_t high_product(uint32_t a, uint32_t b) {
    return static_cast<uint32_t>((uint64_t{a} * b) >> 32);
}
inline uint64_t high_product(uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 Product;
    return static_cast<uint64_t>((Product{a} * b) >> 64);
}

inline float float16_to_float(Float16 half) {
    return to_float(half);
}
inline Float16 float_to_float16(float value) {
    return to_float16(value);
}

// Throws for an address that is no multiple of the size, as a GPU would.
void require_aligned(uintptr_t address, std::size_t bytes);

template <class T>
T load(uintptr_t address) {
    require_aligned(address, sizeof(T));
    T value;
    __builtin_memcpy(&value, device_memory(address, sizeof(T)), sizeof(T));
    return value;
}
// By the block that runs.
extern thread_local std::size_t stored_bytes;

template <class T>
void store(uintptr_t address, T value) {
    require_aligned(address, sizeof(T));
    stored_bytes += sizeof(T);
    __builtin_memcpy(device_memory(address, sizeof(T)), &value, sizeof(T));
}
template <class T>
T load_table(const T *address) {
    return load<T>(reinterpret_cast<uintptr_t>(address));
}

} // namespace ucd::UCD_GPU

#define UCD_GPU_FUNCTION inline
#define UCD_GPU_KERNEL(name, Params)                                                               \
    static void run_##name(const Params &params);                                                  \
    static const Kernel name = {                                                                   \
        #name, [](const void *params) { run_##name(*static_cast<const Params *>(params)); },       \
        sizeof(Params)};                                                                           \
    static void run_##name(const Params &params)
#define UCD_GPU_KERNEL_HANDLE(name) static_cast<const void *>(&name)
#define UCD_GPU_BLOCK ::ucd::hostgpu::grid.block
#define UCD_GPU_BLOCKS ::ucd::hostgpu::grid.blocks
#define UCD_GPU_FOR_EACH_THREAD(thread)                                                            \
    for (uint32_t thread = 0; thread < threads_per_block; ++thread)
#define UCD_GPU_SHARED
#define UCD_GPU_BARRIER()
