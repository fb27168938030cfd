// Adapts HIP's headers for NVIDIA's GPUs to CUDA 13 and to the names of HIP 6. The headers of HIP
// 5.2, which distributions have, were written for CUDA 11. Included before anything else.
#pragma once
#pragma GCC system_header // suppresses warnings of the included headers

#define __HIP_PLATFORM_NVIDIA__ 1
#define __HIP_PLATFORM_NVCC__ 1

#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <utility>

#if CUDART_VERSION < 13000
#error "this is for CUDA 13"
#endif

// What CUDA 13 has removed, or changed parameters of ---------------------------------------

namespace ucd_hip {

struct DeviceProperties : cudaDeviceProp {
    int clockRate, memoryClockRate, computeMode, kernelExecTimeoutEnabled;
    int cooperativeMultiDeviceLaunch;
};

inline cudaError_t get_properties(DeviceProperties *properties, int device) {
    *properties = {};
    if (const cudaError_t error = cudaGetDeviceProperties(properties, device); error != cudaSuccess)
        return error;
    return cudaDeviceGetAttribute(&properties->computeMode, cudaDevAttrComputeMode, device);
}

inline cudaMemLocation place_of(int device) {
    if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, {0}};
    return {cudaMemLocationTypeDevice, {device}};
}

} // namespace ucd_hip

inline cudaError_t cudaMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise advice,
                                 int device) {
    return cudaMemAdvise(memory, bytes, advice, ucd_hip::place_of(device));
}
inline cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, int device,
                                        cudaStream_t stream) {
    return cudaMemPrefetchAsync(memory, bytes, ucd_hip::place_of(device), 0, stream);
}
inline CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device) {
    return cuCtxCreate(context, static_cast<CUctxCreateParams *>(nullptr), flags, device);
}
// Edges of graphs have data since CUDA 12.
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to, size_t count) {
    return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, size_t count) {
    return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                     size_t *count) {
    return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                size_t *count) {
    return cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}
inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                  size_t *count) {
    return cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}
inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                       size_t count, unsigned flags) {
    return cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}
inline cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                               unsigned long long *id, cudaGraph_t *graph,
                                               const cudaGraphNode_t **nodes, size_t *count) {
    return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count);
}
#if !defined(__CUDACC__) // nvcc defines it
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t, cudaGraph_t, cudaGraphNode_t *,
                                       cudaGraphExecUpdateResult *) {
    return cudaErrorNotSupported;
}
#endif

// Texture references and launches on several devices were removed.
struct textureReference;
template <class T, int dimensions, enum cudaTextureReadMode mode>
struct texture {};
#define UCD_HIP_GONE(name)                                                                         \
    template <class... Arguments>                                                                  \
    cudaError_t name(Arguments &&...) {                                                            \
        return cudaErrorNotSupported;                                                              \
    }
UCD_HIP_GONE(cudaBindTexture)
UCD_HIP_GONE(cudaBindTexture2D)
UCD_HIP_GONE(cudaBindTextureToArray)
UCD_HIP_GONE(cudaUnbindTexture)
UCD_HIP_GONE(cudaGetTextureAlignmentOffset)
UCD_HIP_GONE(cudaLaunchCooperativeKernelMultiDevice)
#undef UCD_HIP_GONE

#define cudaDeviceProp ucd_hip::DeviceProperties
#define cudaGetDeviceProperties ucd_hip::get_properties
#define cudaDevAttrCooperativeMultiDeviceLaunch cudaDevAttrReserved96
#define memoryType type // HIP 6's name in hipPointerAttribute_t
#define hipMemoryTypeHost hipMemoryTypeHost_5
#define hipMemoryTypeDevice hipMemoryTypeDevice_5
#if defined(__CUDACC__)
#include <hip/hip_runtime.h>
#else
#define __CUDACC__ // otherwise the headers leave out graphs and pools
#include <hip/hip_runtime_api.h>
#undef __CUDACC__
#endif
#undef cudaDeviceProp
#undef cudaGetDeviceProperties
#undef cudaDevAttrCooperativeMultiDeviceLaunch
#undef memoryType
#undef hipMemoryTypeHost
#undef hipMemoryTypeDevice

// The names of HIP 6, and functions that the headers lack ----------------------------------

#if HIP_VERSION_MAJOR != 5
#error "this is for the headers of HIP 5.2"
#endif
#undef HIP_VERSION_MAJOR
#undef HIP_VERSION
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION 60000000

inline constexpr auto hipMemoryTypeUnregistered = static_cast<hipMemoryType>(0);
inline constexpr auto hipMemoryTypeHost = static_cast<hipMemoryType>(1);
inline constexpr auto hipMemoryTypeDevice = static_cast<hipMemoryType>(2);
inline constexpr auto hipMemoryTypeManaged = static_cast<hipMemoryType>(3);

using hipUserObject_t = cudaUserObject_t;
#define hipUserObjectNoDestructorSync cudaUserObjectNoDestructorSync
#define hipGraphUserObjectMove cudaGraphUserObjectMove
#define hipMemLocationTypeDevice cudaMemLocationTypeDevice
#define hipMemAllocationTypePinned cudaMemAllocationTypePinned
#define hipMemAccessFlagsProtReadWrite cudaMemAccessFlagsProtReadWrite

namespace ucd_hip {

// A function of the driver, found at run time because the driver is not linked; null if there is
// none. It is the version of CUDA 12.0: later versions have more parameters than cuda.h declares
// under the same name.
template <class Function>
Function *driver_function(const char *name, Function *) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    const bool is = cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault,
                                                     &found) == cudaSuccess &&
                    found == cudaDriverEntryPointSuccess;
    return is ? reinterpret_cast<Function *>(function) : nullptr;
}
#define UCD_HIP_DRIVER_CALL(name, ...)                                                             \
    ([&] {                                                                                         \
        static const auto function = ucd_hip::driver_function(#name, &name);                       \
        return function == nullptr ? hipErrorNotSupported                                          \
                                   : hipCUResultTohipError(function(__VA_ARGS__));                 \
    }())

// As in HIP 6, unregistered memory is not an error, and managed memory is reported.
inline hipError_t get_attributes(hipPointerAttribute_t *attributes, const void *address) {
    cudaPointerAttributes found;
    const cudaError_t error = cudaPointerGetAttributes(&found, address);
    if (error != cudaSuccess) return hipCUDAErrorTohipError(error);
    *attributes = {};
    attributes->type = found.type == cudaMemoryTypeHost      ? hipMemoryTypeHost
                       : found.type == cudaMemoryTypeDevice  ? hipMemoryTypeDevice
                       : found.type == cudaMemoryTypeManaged ? hipMemoryTypeManaged
                                                             : hipMemoryTypeUnregistered;
    attributes->device = found.device;
    attributes->devicePointer = found.devicePointer;
    attributes->hostPointer = found.hostPointer;
    attributes->isManaged = found.type == cudaMemoryTypeManaged;
    return hipSuccess;
}

inline hipError_t get_attribute(void *value, hipPointer_attribute attribute, void *address) {
    return UCD_HIP_DRIVER_CALL(cuPointerGetAttribute, value, attribute,
                               reinterpret_cast<CUdeviceptr>(address));
}

// Uses attributes, since cuMemGetAddressRange needs a context. A reserved address range may be
// mapped to memory piecewise.
inline hipError_t get_range(void **start, size_t *bytes, void *address) {
    CUdeviceptr reserved = 0, mapped = 0;
    size_t reserved_bytes = 0, mapped_bytes = 0;
    for (const auto &[value, attribute] :
         {std::pair<void *, CUpointer_attribute>{&reserved, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR},
          {&reserved_bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE},
          {&mapped, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR},
          {&mapped_bytes, CU_POINTER_ATTRIBUTE_MAPPING_SIZE}})
        if (const hipError_t error = get_attribute(value, attribute, address); error != hipSuccess)
            return error;
    const CUdeviceptr first = reserved > mapped ? reserved : mapped;
    const CUdeviceptr reserved_end = reserved + reserved_bytes, mapped_end = mapped + mapped_bytes;
    const CUdeviceptr end = reserved_end < mapped_end ? reserved_end : mapped_end;
    *start = reinterpret_cast<void *>(first);
    *bytes = end > first ? end - first : 0;
    return *bytes == 0 ? hipErrorNotFound : hipSuccess;
}

// HIP's copies it as a text.
inline hipError_t get_uuid(hipUUID *uuid, hipDevice_t device) {
    return UCD_HIP_DRIVER_CALL(cuDeviceGetUuid, reinterpret_cast<CUuuid *>(uuid), device);
}

// Architectures have nvcc's names.
inline hipError_t get_hip_properties(hipDeviceProp_t *properties, int device) {
    const hipError_t error = hipGetDeviceProperties(properties, device);
    if (error == hipSuccess)
        std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "sm_%d",
                      10 * properties->major + properties->minor);
    return error;
}

// CUDA's version in HIP's encoding.
inline hipError_t get_version(int *version) {
    const cudaError_t error = cudaRuntimeGetVersion(version);
    *version = *version / 1000 * 10000000 + *version % 1000 / 10 * 100000;
    return hipCUDAErrorTohipError(error);
}

} // namespace ucd_hip

#define hipDeviceptr_t void * // the type in HIP for AMD's GPUs
#define hipPointerGetAttributes ucd_hip::get_attributes
#define hipPointerGetAttribute ucd_hip::get_attribute
#define hipMemGetAddressRange ucd_hip::get_range
#define hipDeviceGetUuid ucd_hip::get_uuid
#define hipGetDeviceProperties ucd_hip::get_hip_properties
#define hipRuntimeGetVersion ucd_hip::get_version

inline hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *location,
                                  void *address) {
    CUmemLocation where{};
    where.type = CU_MEM_LOCATION_TYPE_DEVICE;
    where.id = location->id;
    return UCD_HIP_DRIVER_CALL(cuMemGetAccess, flags, &where,
                               reinterpret_cast<CUdeviceptr>(address));
}
// Uses the stream's context, because cudaStreamGetDevice fails while the stream is captured, and
// HIP's function does not.
inline hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device) {
    CUcontext context = nullptr;
    hipError_t error = UCD_HIP_DRIVER_CALL(cuStreamGetCtx, stream, &context);
    if (error == hipSuccess) error = UCD_HIP_DRIVER_CALL(cuCtxPushCurrent, context);
    if (error != hipSuccess) return error;
    error = UCD_HIP_DRIVER_CALL(cuCtxGetDevice, device);
    (void)UCD_HIP_DRIVER_CALL(cuCtxPopCurrent, &context);
    return error;
}
inline hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
    return hipCUDAErrorTohipError(cudaThreadExchangeStreamCaptureMode(mode));
}
inline hipError_t hipUserObjectCreate(hipUserObject_t *object, void *what, hipHostFn_t destroy,
                                      unsigned references, unsigned flags) {
    return hipCUDAErrorTohipError(cudaUserObjectCreate(object, what, destroy, references, flags));
}
inline hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned count) {
    return hipCUDAErrorTohipError(cudaUserObjectRelease(object, count));
}
inline hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count,
                                           unsigned flags) {
    return hipCUDAErrorTohipError(cudaGraphRetainUserObject(graph, object, count, flags));
}
#undef UCD_HIP_DRIVER_CALL
