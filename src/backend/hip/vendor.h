// Maps gpu_common's names to HIP's. Nothing else in gpu_common refers to HIP.
#pragma once

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#else
#include <hip/hip_runtime_api.h>
#endif

#include <cstdint>

// The namespace, within ucd, of all code that is compiled for this vendor.
#define UCD_GPU hip

namespace ucd::UCD_GPU {

inline constexpr const char *vendor_name = "hip";
inline constexpr const char *runtime_name = "HIP";

#if defined(__HIP_PLATFORM_NVIDIA__)
using Quad = uint4; // nvcc loads and stores it in one instruction
#else
struct alignas(16) Quad {
    uint32_t x, y, z, w;
};
#endif

// An idle stream does not imply that the host sees what kernels wrote to non-coherent memory.
// Synchronising ensures that, and does not wait for an idle stream.
inline hipError_t query_stream(hipStream_t stream) {
    const hipError_t state = hipStreamQuery(stream);
    return state == hipSuccess ? hipStreamSynchronize(stream) : state;
}

// HIP limits a launch to less than 2^32 threads. Kernels work with any number of blocks.
inline hipError_t launch_kernel(const void *kernel, dim3 blocks, dim3 threads, void **arguments,
                                std::size_t shared, hipStream_t stream) {
    const uint32_t most = UINT32_MAX / threads.x;
    if (blocks.x > most) blocks.x = most;
    return hipLaunchKernel(kernel, blocks, threads, arguments, shared, stream);
}

} // namespace ucd::UCD_GPU

// The runtime --------------------------------------------------------------

using gpuError_t = hipError_t;
using gpuStream_t = hipStream_t;
using gpuEvent_t = hipEvent_t;
using gpuFuncAttributes = hipFuncAttributes;
using gpuPitchedPtr = hipPitchedPtr;
using gpuMemcpy3DParms = hipMemcpy3DParms;
using gpuIpcMemHandle_t = hipIpcMemHandle_t;
using gpuStreamCaptureStatus = hipStreamCaptureStatus;
using gpuStreamCaptureMode = hipStreamCaptureMode;

#define gpuSuccess hipSuccess
#define gpuErrorNotReady hipErrorNotReady
#define gpuErrorMemoryAllocation hipErrorOutOfMemory
#define gpuErrorInvalidValue hipErrorInvalidValue
#define gpuErrorNotSupported hipErrorNotSupported
#define gpuErrorPeerAccessAlreadyEnabled hipErrorPeerAccessAlreadyEnabled
#define gpuGetErrorString hipGetErrorString
#define gpuGetLastError hipGetLastError
#define gpuDeviceGetAttribute hipDeviceGetAttribute
#define gpuDevAttrMultiProcessorCount hipDeviceAttributeMultiprocessorCount
#define gpuDeviceGetStreamPriorityRange hipDeviceGetStreamPriorityRange
#define gpuDeviceCanAccessPeer hipDeviceCanAccessPeer
#define gpuDeviceEnablePeerAccess hipDeviceEnablePeerAccess
#define gpuStreamNonBlocking hipStreamNonBlocking
#define gpuStreamCreateWithPriority hipStreamCreateWithPriority
#define gpuStreamDestroy hipStreamDestroy
#define gpuStreamQuery ucd::hip::query_stream
#define gpuStreamSynchronize hipStreamSynchronize
#define gpuStreamWaitEvent(stream, event) hipStreamWaitEvent(stream, event, 0)
#define gpuStreamIsCapturing hipStreamIsCapturing
#define gpuStreamCaptureStatusNone hipStreamCaptureStatusNone
#define gpuStreamCaptureModeRelaxed hipStreamCaptureModeRelaxed
#define gpuThreadExchangeStreamCaptureMode hipThreadExchangeStreamCaptureMode
// Without the second flag, data written before the event may remain in the device's caches.
#define gpuEventDisableTiming (hipEventDisableTiming | hipEventReleaseToSystem)
#define gpuEventCreateWithFlags hipEventCreateWithFlags
#define gpuEventRecord hipEventRecord
#define gpuEventQuery hipEventQuery
#define gpuEventSynchronize hipEventSynchronize
#define gpuEventDestroy hipEventDestroy
#define gpuMalloc hipMalloc
#define gpuFree hipFree
#define gpuHostAlloc hipHostMalloc
// Explicitly coherent, because the default depends on the environment.
#define gpuHostAllocPortable (hipHostMallocPortable | hipHostMallocCoherent)
#define gpuHostFree hipHostFree
#define gpuIpcMemLazyEnablePeerAccess hipIpcMemLazyEnablePeerAccess
#define gpuIpcGetMemHandle hipIpcGetMemHandle
#define gpuIpcOpenMemHandle hipIpcOpenMemHandle
#define gpuIpcCloseMemHandle hipIpcCloseMemHandle
#define gpuMemcpyDefault hipMemcpyDefault
#define gpuMemcpyAsync hipMemcpyAsync
#define gpuMemcpy2DAsync hipMemcpy2DAsync
#define gpuMemcpy3DAsync hipMemcpy3DAsync
#define gpuLaunchKernel ucd::hip::launch_kernel
#define gpuFuncGetAttributes hipFuncGetAttributes
// Only the tests use these.
#define gpuGetDeviceCount hipGetDeviceCount
#define gpuSetDevice hipSetDevice
#define gpuMallocManaged hipMallocManaged
#define gpuMemcpy hipMemcpy

// Kernels --------------------------------------------------------------

#if defined(__HIPCC__)

#define UCD_GPU_FUNCTION __device__ __forceinline__
// The runtime's handle of a kernel.
#define UCD_GPU_KERNEL_HANDLE(name) reinterpret_cast<const void *>(&name)
#define UCD_GPU_BLOCK blockIdx.x
#define UCD_GPU_BLOCKS gridDim.x
#define UCD_GPU_FOR_EACH_THREAD(thread) if (const uint32_t thread = threadIdx.x; true)
#define UCD_GPU_SHARED __shared__
#define UCD_GPU_BARRIER() __syncthreads()

#define UCD_ELEMENT_FUNCTION UCD_GPU_FUNCTION
#include "half.h"

namespace ucd::UCD_GPU {

UCD_GPU_FUNCTION uint32_t high_product(uint32_t a, uint32_t b) {
    return __umulhi(a, b);
}
UCD_GPU_FUNCTION uint64_t high_product(uint64_t a, uint64_t b) {
    return __umul64hi(a, b);
}

} // namespace ucd::UCD_GPU

#if defined(__HIP_PLATFORM_NVIDIA__)
#include "device_code_nvidia.h"
#else
#include "device_code_amd.h"
#endif

#endif
