// HIP's names for what the benchmark needs of a GPU's runtime and language.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdint>

namespace bench::gpu {

inline constexpr const char *vendor_name = "hip"; // as UCD names its devices

inline hipError_t allocate_pinned(void **memory, std::size_t bytes) {
    return hipHostMalloc(memory, bytes, hipHostMallocCoherent);
}

inline hipError_t instantiate(hipGraphExec_t *made, hipGraph_t graph, unsigned long long flags) {
    return hipGraphInstantiateWithFlags(made, graph, flags);
}

} // namespace bench::gpu

using gpuError_t = hipError_t;
using gpuStream_t = hipStream_t;
using gpuEvent_t = hipEvent_t;
using gpuGraph_t = hipGraph_t;
using gpuGraphExec_t = hipGraphExec_t;
using gpuDeviceProp = hipDeviceProp_t;
using gpuPitchedPtr = hipPitchedPtr;
using gpuMemcpy3DParms = hipMemcpy3DParms;

#define gpuSuccess hipSuccess
#define gpuGetErrorString hipGetErrorString
#define gpuGetLastError hipGetLastError
#define gpuGetDevice hipGetDevice
#define gpuSetDevice hipSetDevice
#define gpuGetDeviceCount hipGetDeviceCount
#define gpuGetDeviceProperties hipGetDeviceProperties
#define gpuDeviceGetAttribute hipDeviceGetAttribute
#define gpuDevAttrMultiProcessorCount hipDeviceAttributeMultiprocessorCount
#define gpuDeviceSynchronize hipDeviceSynchronize
#define gpuStreamNonBlocking hipStreamNonBlocking
#define gpuStreamCreateWithFlags hipStreamCreateWithFlags
#define gpuStreamSynchronize hipStreamSynchronize
#define gpuStreamBeginCapture hipStreamBeginCapture
#define gpuStreamCaptureModeRelaxed hipStreamCaptureModeRelaxed
#define gpuStreamEndCapture hipStreamEndCapture
#define gpuGraphInstantiate bench::gpu::instantiate
#define gpuGraphLaunch hipGraphLaunch
#define gpuGraphDestroy hipGraphDestroy
#define gpuGraphExecDestroy hipGraphExecDestroy
#define gpuStreamDestroy hipStreamDestroy
#define gpuEventDisableTiming hipEventDisableTiming
#define gpuEventBlockingSync hipEventBlockingSync
#define gpuEventCreateWithFlags hipEventCreateWithFlags
#define gpuEventRecord hipEventRecord
#define gpuEventSynchronize hipEventSynchronize
#define gpuEventDestroy hipEventDestroy
#define gpuMalloc hipMalloc
#define gpuMallocManaged hipMallocManaged
#define gpuFree hipFree
#define gpuHostMalloc bench::gpu::allocate_pinned
#define gpuHostFree hipHostFree
#define gpuHostRegister hipHostRegister
#define gpuHostRegisterDefault hipHostRegisterDefault
#define gpuHostUnregister hipHostUnregister
#define gpuMemset hipMemset
#define gpuMemcpyDefault hipMemcpyDefault
#define gpuMemcpy hipMemcpy
#define gpuMemcpyAsync hipMemcpyAsync
#define gpuMemcpy2DAsync hipMemcpy2DAsync
#define gpuMemcpy3DAsync hipMemcpy3DAsync

#if defined(__HIPCC__)

#include <hip/hip_fp16.h>

#define UCD_BENCH_ANYWHERE __host__ __device__

namespace bench::gpu {

using Half = __half;

__device__ inline std::uint64_t nanoseconds() {
#if defined(__HIP_PLATFORM_NVIDIA__)
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#elif defined(__HIP_DEVICE_COMPILE__) // of the constant clock of 100 MHz
    return 10 * static_cast<std::uint64_t>(__builtin_amdgcn_s_memrealtime());
#else
    return 0;
#endif
}

} // namespace bench::gpu

#else

#define UCD_BENCH_ANYWHERE

#endif
