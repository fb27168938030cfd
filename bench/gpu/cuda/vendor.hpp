// CUDA's names for what the benchmark needs of a GPU's runtime and language. Nothing else in bench/
// knows them: another vendor has a header like this one in a folder of its own.
#pragma once

#include <cuda_runtime.h>

namespace bench::gpu {

inline constexpr const char *vendor_name = "cuda"; // as UCD names its devices

} // namespace bench::gpu

using gpuError_t = cudaError_t;
using gpuStream_t = cudaStream_t;
using gpuEvent_t = cudaEvent_t;
using gpuGraph_t = cudaGraph_t;
using gpuGraphExec_t = cudaGraphExec_t;
using gpuDeviceProp = cudaDeviceProp;
using gpuPitchedPtr = cudaPitchedPtr;
using gpuMemcpy3DParms = cudaMemcpy3DParms;

#define gpuSuccess cudaSuccess
#define gpuGetErrorString cudaGetErrorString
#define gpuGetLastError cudaGetLastError
#define gpuGetDevice cudaGetDevice
#define gpuSetDevice cudaSetDevice
#define gpuGetDeviceCount cudaGetDeviceCount
#define gpuGetDeviceProperties cudaGetDeviceProperties
#define gpuDeviceGetAttribute cudaDeviceGetAttribute
#define gpuDevAttrMultiProcessorCount cudaDevAttrMultiProcessorCount
#define gpuDeviceSynchronize cudaDeviceSynchronize
#define gpuStreamNonBlocking cudaStreamNonBlocking
#define gpuStreamCreateWithFlags cudaStreamCreateWithFlags
#define gpuStreamSynchronize cudaStreamSynchronize
#define gpuStreamBeginCapture cudaStreamBeginCapture
#define gpuStreamCaptureModeRelaxed cudaStreamCaptureModeRelaxed
#define gpuStreamEndCapture cudaStreamEndCapture
#define gpuGraphInstantiate cudaGraphInstantiate
#define gpuGraphLaunch cudaGraphLaunch
#define gpuGraphDestroy cudaGraphDestroy
#define gpuGraphExecDestroy cudaGraphExecDestroy
#define gpuStreamDestroy cudaStreamDestroy
#define gpuEventDisableTiming cudaEventDisableTiming
#define gpuEventBlockingSync cudaEventBlockingSync
#define gpuEventCreateWithFlags cudaEventCreateWithFlags
#define gpuEventRecord cudaEventRecord
#define gpuEventSynchronize cudaEventSynchronize
#define gpuEventDestroy cudaEventDestroy
#define gpuMalloc cudaMalloc
#define gpuMallocManaged cudaMallocManaged
#define gpuFree cudaFree
#define gpuHostMalloc cudaMallocHost
#define gpuHostFree cudaFreeHost
#define gpuHostRegister cudaHostRegister
#define gpuHostRegisterDefault cudaHostRegisterDefault
#define gpuHostUnregister cudaHostUnregister
#define gpuMemset cudaMemset
#define gpuMemcpyDefault cudaMemcpyDefault
#define gpuMemcpy cudaMemcpy
#define gpuMemcpyAsync cudaMemcpyAsync
#define gpuMemcpy2DAsync cudaMemcpy2DAsync
#define gpuMemcpy3DAsync cudaMemcpy3DAsync

#if defined(__CUDACC__)

#include <cuda_fp16.h>

#include <cstdint>

#define UCD_BENCH_ANYWHERE __host__ __device__

namespace bench::gpu {

using Half = __half;

__device__ inline std::uint64_t nanoseconds() {
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

} // namespace bench::gpu

#else

#define UCD_BENCH_ANYWHERE

#endif
