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

inline constexpr bool has_batches = false; // of copies, in one call
inline hipError_t copy_batch(void **, const void **, std::size_t *, std::size_t, hipStream_t) {
    return hipErrorNotSupported;
}

} // namespace bench::gpu

#define UCD_BENCH_GPU(name) hip##name
#include "gpu/names.hpp"

using gpuDeviceProp = hipDeviceProp_t;

#define gpuDevAttrMultiProcessorCount hipDeviceAttributeMultiprocessorCount
#define gpuGraphInstantiate bench::gpu::instantiate
#define gpuHostMalloc bench::gpu::allocate_pinned
#define gpuHostFree hipHostFree

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
