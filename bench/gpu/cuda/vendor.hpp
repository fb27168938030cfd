// CUDA's names for what the benchmark needs of a GPU's runtime and language. Nothing else in bench/
// knows them: another vendor has a header like this one in a folder of its own.
#pragma once

#include <cuda_runtime.h>

namespace bench::gpu {

inline constexpr const char *vendor_name = "cuda"; // as UCD names its devices

} // namespace bench::gpu

#define UCD_BENCH_GPU(name) cuda##name
#include "gpu/names.hpp"

using gpuDeviceProp = cudaDeviceProp;

#define gpuDevAttrMultiProcessorCount cudaDevAttrMultiProcessorCount
#define gpuGraphInstantiate cudaGraphInstantiate
#define gpuHostMalloc cudaMallocHost
#define gpuHostFree cudaFreeHost

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
