// HIP 6's names over the headers of HIP 5.2 (Debian 12) and 5.7 (Debian 13, Ubuntu 24.04), as far
// as the backend uses them.
#pragma once
#pragma GCC system_header // for include_next

#include_next <hip/hip_version.h>
// HIP 5.7 has both names of the field, and some of what HIP 6 has. The version is another one
// below.
#if HIP_VERSION >= 50700000
#define UCD_HIP_5_HAS_MORE
#endif

#ifdef UCD_HIP_5_HAS_MORE
#define memoryType memoryType_5
#define hipMemoryTypeManaged hipMemoryTypeManaged_5
#else
#define memoryType type
#endif
#define hipMemoryTypeHost hipMemoryTypeHost_5
#define hipMemoryTypeDevice hipMemoryTypeDevice_5
#include_next <hip/hip_runtime_api.h>
#undef memoryType
#undef hipMemoryTypeManaged
#undef hipMemoryTypeHost
#undef hipMemoryTypeDevice

#if HIP_VERSION_MAJOR >= 6
#error "these headers have the names of HIP 6"
#endif
#undef HIP_VERSION_MAJOR
#undef HIP_VERSION
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION 60000000

inline constexpr auto hipMemoryTypeUnregistered = static_cast<hipMemoryType>(0);
inline constexpr auto hipMemoryTypeHost = static_cast<hipMemoryType>(1);
inline constexpr auto hipMemoryTypeDevice = static_cast<hipMemoryType>(2);
inline constexpr auto hipMemoryTypeManaged = static_cast<hipMemoryType>(3);

#ifndef UCD_HIP_5_HAS_MORE
struct hipUserObject;
using hipUserObject_t = hipUserObject *;
enum { hipUserObjectNoDestructorSync = 1, hipGraphUserObjectMove = 1 };
extern "C" {
hipError_t hipUserObjectCreate(hipUserObject_t *object, void *what, hipHostFn_t destroy,
                               unsigned references, unsigned flags);
hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned count);
hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count,
                                    unsigned flags);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device);
}
#endif
