// Maps gpu_common's names to CUDA's. Nothing else in gpu_common refers to CUDA.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// The namespace, within ucd, of all code that is compiled for this vendor.
#define UCD_GPU cuda

namespace ucd::UCD_GPU {

inline constexpr const char *vendor_name = "cuda";
inline constexpr const char *runtime_name = "CUDA";

using Quad = uint4;

} // namespace ucd::UCD_GPU

// The runtime --------------------------------------------------------------

using gpuError_t = cudaError_t;
using gpuStream_t = cudaStream_t;
using gpuEvent_t = cudaEvent_t;
using gpuFuncAttributes = cudaFuncAttributes;
using gpuPitchedPtr = cudaPitchedPtr;
using gpuMemcpy3DParms = cudaMemcpy3DParms;
using gpuIpcMemHandle_t = cudaIpcMemHandle_t;
using gpuStreamCaptureStatus = cudaStreamCaptureStatus;
using gpuStreamCaptureMode = cudaStreamCaptureMode;

#define gpuSuccess cudaSuccess
#define gpuErrorNotReady cudaErrorNotReady
#define gpuErrorMemoryAllocation cudaErrorMemoryAllocation
#define gpuErrorInvalidValue cudaErrorInvalidValue
#define gpuErrorNotSupported cudaErrorNotSupported
#define gpuErrorPeerAccessAlreadyEnabled cudaErrorPeerAccessAlreadyEnabled
#define gpuGetErrorString cudaGetErrorString
#define gpuGetLastError cudaGetLastError
#define gpuDeviceGetAttribute cudaDeviceGetAttribute
#define gpuDevAttrMultiProcessorCount cudaDevAttrMultiProcessorCount
#define gpuDeviceGetStreamPriorityRange cudaDeviceGetStreamPriorityRange
#define gpuDeviceCanAccessPeer cudaDeviceCanAccessPeer
#define gpuDeviceEnablePeerAccess cudaDeviceEnablePeerAccess
#define gpuStreamNonBlocking cudaStreamNonBlocking
#define gpuStreamCreateWithPriority cudaStreamCreateWithPriority
#define gpuStreamDestroy cudaStreamDestroy
#define gpuStreamQuery cudaStreamQuery
#define gpuStreamSynchronize cudaStreamSynchronize
#define gpuStreamWaitEvent(stream, event) cudaStreamWaitEvent(stream, event, 0)
#define gpuStreamCaptureStatusNone cudaStreamCaptureStatusNone
#define gpuStreamCaptureModeRelaxed cudaStreamCaptureModeRelaxed
// The runtime takes twice as long to ask whether a stream is captured, and five times as long to
// exchange the mode of captures.
namespace ucd::cuda {
cudaError_t stream_is_capturing(cudaStream_t stream, cudaStreamCaptureStatus *status);
cudaError_t exchange_capture_mode(cudaStreamCaptureMode *mode);
} // namespace ucd::cuda
#define gpuStreamIsCapturing ::ucd::cuda::stream_is_capturing
#define gpuThreadExchangeStreamCaptureMode ::ucd::cuda::exchange_capture_mode
#define gpuEventDisableTiming cudaEventDisableTiming
#define gpuEventCreateWithFlags cudaEventCreateWithFlags
#define gpuEventRecord cudaEventRecord
#define gpuEventQuery cudaEventQuery
#define gpuEventSynchronize cudaEventSynchronize
#define gpuEventDestroy cudaEventDestroy
#define gpuMalloc cudaMalloc
#define gpuFree cudaFree
#define gpuHostAlloc cudaHostAlloc
#define gpuHostAllocPortable cudaHostAllocPortable
#define gpuHostFree cudaFreeHost
#define gpuIpcMemLazyEnablePeerAccess cudaIpcMemLazyEnablePeerAccess
#define gpuIpcGetMemHandle cudaIpcGetMemHandle
#define gpuIpcOpenMemHandle cudaIpcOpenMemHandle
#define gpuIpcCloseMemHandle cudaIpcCloseMemHandle
#define gpuMemcpyDefault cudaMemcpyDefault
#define gpuMemcpyAsync cudaMemcpyAsync
#define gpuMemcpy2DAsync cudaMemcpy2DAsync
#define gpuMemcpy3DAsync cudaMemcpy3DAsync
#define gpuLaunchKernel cudaLaunchKernel
#define gpuFuncGetAttributes cudaFuncGetAttributes
// Only the tests use these.
#define gpuGetDeviceCount cudaGetDeviceCount
#define gpuSetDevice cudaSetDevice
#define gpuMallocManaged cudaMallocManaged
#define gpuMemcpy cudaMemcpy

// Kernels --------------------------------------------------------------

#if defined(__CUDACC__)

#define UCD_GPU_FUNCTION __device__ __forceinline__
#define UCD_GPU_KERNEL(name, Params)                                                               \
    __global__ void __launch_bounds__(threads_per_block) name(const __grid_constant__ Params params)
// The runtime's handle of a kernel.
#define UCD_GPU_KERNEL_HANDLE(name) reinterpret_cast<const void *>(&name)
#define UCD_GPU_BLOCK blockIdx.x
#define UCD_GPU_BLOCKS gridDim.x
#define UCD_GPU_FOR_EACH_THREAD(thread) if (const uint32_t thread = threadIdx.x; true)
#define UCD_GPU_SHARED __shared__
#define UCD_GPU_BARRIER() __syncthreads()

#define UCD_ELEMENT_FUNCTION UCD_GPU_FUNCTION
#include "half.h"

#include "device_access.h"

namespace ucd::UCD_GPU {

// These use one hardware instruction each, which rounds to nearest, ties to even.
__device__ __forceinline__ float float16_to_float(Float16 half) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half.bits));
    return value;
}
__device__ __forceinline__ Float16 float_to_float16(float value) {
    Float16 half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
    return half;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define UCD_GPU_CONVERTS_FLOAT8
// Four bytes, of which the first is the lowest. Numbers that are too large become the largest one.
__device__ __forceinline__ uint32_t round_to_float8(Float8E4M3, const float *in) {
    uint32_t four;
    asm("{.reg .b16 low, high;\n"
        "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
        "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
        "mov.b32 %0, {low, high};}"
        : "=r"(four)
        : "f"(in[0]), "f"(in[1]), "f"(in[2]), "f"(in[3]));
    return four;
}
__device__ __forceinline__ uint32_t round_to_float8(Float8E5M2, const float *in) {
    uint32_t four;
    asm("{.reg .b16 low, high;\n"
        "cvt.rn.satfinite.e5m2x2.f32 low, %2, %1;\n"
        "cvt.rn.satfinite.e5m2x2.f32 high, %4, %3;\n"
        "mov.b32 %0, {low, high};}"
        : "=r"(four)
        : "f"(in[0]), "f"(in[1]), "f"(in[2]), "f"(in[3]));
    return four;
}
// Two of them as FLOAT16, exactly. The sign of a NaN may be lost.
__device__ __forceinline__ uint32_t float8_to_float16(Float8E4M3, uint32_t two) {
    uint32_t halves;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<uint16_t>(two)));
    return halves;
}
__device__ __forceinline__ uint32_t float8_to_float16(Float8E5M2, uint32_t two) {
    return __byte_perm(two, 0, 0x1404);
}
// The larger magnitude, or a NaN if one of them is one.
__device__ __forceinline__ float larger_magnitude(float a, float b) {
    float larger;
    asm("max.NaN.f32 %0, %1, %2;"
        : "=f"(larger)
        : "f"(__builtin_fabsf(a)), "f"(__builtin_fabsf(b)));
    return larger;
}
#endif

// Loads from memory that does not change while kernels run.
template <class T>
__device__ __forceinline__ T load_table(const T *address) {
    return __ldg(address);
}

} // namespace ucd::UCD_GPU

#endif
