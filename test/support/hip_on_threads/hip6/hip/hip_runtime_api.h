// HIP 6's names over the headers of HIP 5, as far as the backend uses them.
#pragma once
#pragma GCC system_header // for include_next

#define memoryType type
#define hipMemoryTypeHost hipMemoryTypeHost_5
#define hipMemoryTypeDevice hipMemoryTypeDevice_5
#include_next <hip/hip_runtime_api.h>
#undef memoryType
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
