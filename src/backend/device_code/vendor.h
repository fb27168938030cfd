// What the kernels' code needs of the compiler of a program that includes ucd_device.h. Tests name
// a header that has the same for threads of the CPU.
#pragma once

#if defined(UCD_DEVICE_CODE_VENDOR)
#include UCD_DEVICE_CODE_VENDOR
#else

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#endif

#include <cstddef>
#include <cstdint>

#define UCD_GPU_FUNCTION __device__ __forceinline__
#define UCD_GPU_HOST_FUNCTION __host__ __device__ inline // for the host as well
#define UCD_GPU_FOR_EACH_RANK(group, rank) if (const uint64_t rank = (group).thread_rank(); true)

namespace ucd::UCD_GPU {

#if defined(__HIP_PLATFORM_AMD__)
struct alignas(16) Quad {
    uint32_t x, y, z, w;
};

UCD_GPU_FUNCTION uint32_t high_product(uint32_t a, uint32_t b) {
    return __umulhi(a, b);
}
UCD_GPU_FUNCTION uint64_t high_product(uint64_t a, uint64_t b) {
    return __umul64hi(a, b);
}
#else
using Quad = uint4;
#endif

} // namespace ucd::UCD_GPU

#if defined(__HIP_PLATFORM_AMD__)
#include "kernels/global_memory.h"
#else
#include "device_access.h"
#endif

namespace ucd::UCD_GPU {

// The program's kernels may write lists themselves, so they are read as other memory is.
template <class T>
UCD_GPU_FUNCTION T load_table(const T *address) {
    return load<T>(reinterpret_cast<uintptr_t>(address));
}

} // namespace ucd::UCD_GPU

#endif
