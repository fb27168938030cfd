// CUDA's names for what the benchmark needs of a GPU's runtime and language. Nothing else in bench/
// knows them: another vendor has a header like this one in a folder of its own.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace bench::gpu {

inline constexpr const char *vendor_name = "cuda"; // as UCD names its devices

// Copies that one call starts, since CUDA 12.8; the legacy stream does not take them.
inline constexpr bool has_batches = CUDART_VERSION >= 12080;
inline cudaError_t copy_batch([[maybe_unused]] void **to, [[maybe_unused]] const void **from,
                              [[maybe_unused]] std::size_t *bytes,
                              [[maybe_unused]] std::size_t count,
                              [[maybe_unused]] cudaStream_t stream) {
#if CUDART_VERSION >= 12080
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
    std::size_t first = 0;
#if CUDART_VERSION >= 13000
    return cudaMemcpyBatchAsync(to, from, bytes, count, &attributes, &first, 1, stream);
#else
    std::size_t failed = 0;
    return cudaMemcpyBatchAsync(to, const_cast<void **>(from), bytes, count, &attributes, &first, 1,
                                &failed, stream);
#endif
#else
    return cudaErrorNotSupported;
#endif
}

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
