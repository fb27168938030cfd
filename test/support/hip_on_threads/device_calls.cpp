// HIP's calls about devices, streams, events and kernels, done by the host vendor's runtime.
#include "support/hip_on_threads/calls.h"
#include "support/hip_on_threads/control.h"

#include "support/host_vendor/capture.h"
#include "support/host_vendor/state.h"

#include <cstdio>
#include <memory>
#include <string>

namespace hip_on_threads {

Knobs knobs;
std::atomic<int> calls{0};
std::atomic<unsigned> blocks_launched{0};

namespace {

thread_local hipError_t last_error = hipSuccess;

// Whether the end of what an event marks is seen by the host in all memory.
struct Event {
    gpuEvent_t event = nullptr;
    bool publishes = false;
};
Event *event_of(hipEvent_t event) {
    return reinterpret_cast<Event *>(event);
}

} // namespace

hipError_t done(hipError_t error) {
    ++calls;
    // Before version 6, a success hides the failures before it.
    if (error != hipSuccess || HIP_VERSION_MAJOR < 6) last_error = error;
    return error;
}

hipError_t done(gpuError_t error) {
    switch (error) {
    case gpuSuccess: return done(hipSuccess);
    case gpuErrorNotReady: return done(hipErrorNotReady);
    case gpuErrorMemoryAllocation: return done(hipErrorOutOfMemory);
    case gpuErrorPeerAccessAlreadyEnabled: return done(hipErrorPeerAccessAlreadyEnabled);
    case gpuErrorInvalidValue: return done(hipErrorInvalidValue);
    case gpuErrorRefused: return done(hipErrorUnknown);
    case gpuErrorInvalidHandle: return done(hipErrorInvalidHandle);
    case gpuErrorInvalidConfiguration: return done(hipErrorInvalidConfiguration);
    case gpuErrorFailed: return done(hipErrorLaunchFailure);
    case gpuErrorNotSupported: return done(hipErrorNotSupported);
    }
    return done(hipErrorUnknown);
}

mock::Stream *stream_of(hipStream_t stream) {
    if (stream != nullptr) return reinterpret_cast<mock::Stream *>(stream);
    static auto *const streams = new std::unique_ptr<mock::Stream>[mock::device_count];
    static const bool made = [] {
        for (int i = 0; i < mock::device_count; ++i) streams[i] = std::make_unique<mock::Stream>(i);
        return true;
    }();
    (void)made;
    return streams[ucd::hostgpu::current_device].get();
}

} // namespace hip_on_threads

using namespace hip_on_threads;

extern "C" {

const char *hipGetErrorString(hipError_t error) {
    switch (error) {
    case hipSuccess: return gpuGetErrorString(gpuSuccess);
    case hipErrorNotReady: return gpuGetErrorString(gpuErrorNotReady);
    case hipErrorOutOfMemory: return gpuGetErrorString(gpuErrorMemoryAllocation);
    case hipErrorInvalidValue: return gpuGetErrorString(gpuErrorInvalidValue);
    case hipErrorUnknown: return gpuGetErrorString(gpuErrorRefused);
    case hipErrorInvalidHandle: return gpuGetErrorString(gpuErrorInvalidHandle);
    case hipErrorLaunchFailure: return gpuGetErrorString(gpuErrorFailed);
    default: return "another error";
    }
}

hipError_t hipGetLastError() {
    const hipError_t error = last_error;
    last_error = hipSuccess;
    return error;
}

hipError_t hipGetDeviceCount(int *count) {
    *count = mock::device_count;
    return done(hipSuccess);
}

hipError_t hipGetDevice(int *device) {
    if (ucd::hostgpu::is_refused()) return done(hipErrorUnknown);
    *device = ucd::hostgpu::current_device;
    return done(hipSuccess);
}

hipError_t hipSetDevice(int device) {
    if (ucd::hostgpu::is_refused()) return done(hipErrorUnknown);
    if (device < 0 || device >= mock::device_count) return done(hipErrorInvalidDevice);
    ucd::hostgpu::current_device = device;
    return done(hipSuccess);
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device) {
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "threads %d", device);
    std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName,
                  "gfx90a:sramecc+:xnack-");
    return done(hipSuccess);
}

hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device) {
    const std::uint64_t identity = mock::identity(device);
    if (identity == 0) return done(hipErrorNotSupported);
    std::snprintf(uuid->bytes, sizeof uuid->bytes, "XX"); // as of devices that have none
    return done(hipSuccess);
}

hipError_t hipDeviceGetPCIBusId(char *bus, int room, int device) {
    std::snprintf(bus, static_cast<std::size_t>(room), "0000:%02x:00.0",
                  static_cast<unsigned>(mock::identity(device)));
    return done(hipSuccess);
}

hipError_t hipRuntimeGetVersion(int *version) {
    *version = HIP_VERSION;
    return done(hipSuccess);
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device) {
    if (attribute == hipDeviceAttributeConcurrentManagedAccess) {
        *value = device == 0;
        return done(hipSuccess);
    }
    if (attribute != hipDeviceAttributeMultiprocessorCount) return done(hipErrorInvalidValue);
    return done(gpuDeviceGetAttribute(value, gpuDevAttrMultiProcessorCount, device));
}

hipError_t hipDeviceGetStreamPriorityRange(int *lowest, int *highest) {
    return done(gpuDeviceGetStreamPriorityRange(lowest, highest));
}

hipError_t hipDeviceCanAccessPeer(int *can, int device, int other) {
    return done(gpuDeviceCanAccessPeer(can, device, other));
}

hipError_t hipDeviceEnablePeerAccess(int other, unsigned flags) {
    return done(gpuDeviceEnablePeerAccess(other, flags));
}

// Streams --------------------------------------------------------------

hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority) {
    return done(
        gpuStreamCreateWithPriority(reinterpret_cast<gpuStream_t *>(stream), flags, priority));
}

hipError_t hipStreamDestroy(hipStream_t stream) {
    return done(gpuStreamDestroy(stream_of(stream)));
}

// That there is no work left, and nothing about memory.
hipError_t hipStreamQuery(hipStream_t stream) {
    return done(gpuStreamQuery(stream_of(stream)));
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
    const hipError_t error = done(gpuStreamSynchronize(stream_of(stream)));
    mock::publish_incoherent();
    return error;
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
    return done(gpuStreamWaitEvent(stream_of(stream), event_of(event)->event));
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status) {
    gpuStreamCaptureStatus captured = gpuStreamCaptureStatusNone; // refused calls leave it
    const gpuError_t error = gpuStreamIsCapturing(stream_of(stream), &captured);
    *status = captured == gpuStreamCaptureStatusNone ? hipStreamCaptureStatusNone
                                                     : hipStreamCaptureStatusActive;
    return done(error);
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
    gpuStreamCaptureMode native = *mode == hipStreamCaptureModeRelaxed ? gpuStreamCaptureModeRelaxed
                                                                       : gpuStreamCaptureModeGlobal;
    const gpuError_t error = gpuThreadExchangeStreamCaptureMode(&native);
    *mode = native == gpuStreamCaptureModeRelaxed ? hipStreamCaptureModeRelaxed
                                                  : hipStreamCaptureModeGlobal;
    return done(error);
}

// Graphs are their streams.
#if HIP_VERSION >= 50300000

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *status,
                                      unsigned long long *, hipGraph_t *graph,
                                      const hipGraphNode_t **, size_t *) {
    if (ucd::hostgpu::is_refused()) return done(hipErrorUnknown);
    *status = hipStreamCaptureStatusActive;
    *graph = reinterpret_cast<hipGraph_t>(stream_of(stream));
    return done(hipSuccess);
}

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device) {
    if (ucd::hostgpu::is_refused()) return done(hipErrorUnknown);
    *device = stream_of(stream)->device();
    return done(hipSuccess);
}

hipError_t hipUserObjectCreate(hipUserObject_t *object, void *what, hipHostFn_t destroy, unsigned,
                               unsigned) {
    *object = reinterpret_cast<hipUserObject_t>(new std::shared_ptr<void>(what, destroy));
    return done(hipSuccess);
}

hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned) {
    delete reinterpret_cast<std::shared_ptr<void> *>(object);
    return done(hipSuccess);
}

hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned, unsigned) {
    const std::unique_ptr<std::shared_ptr<void>> owner(
        reinterpret_cast<std::shared_ptr<void> *>(object));
    ucd::hostgpu::keep_with_capture(*reinterpret_cast<mock::Stream *>(graph), *owner);
    return done(hipSuccess);
}

#endif

// Events --------------------------------------------------------------

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
    const ucdtest::SpareAllocations spared;
    auto made = std::make_unique<Event>();
    made->publishes = (flags & hipEventReleaseToSystem) != 0;
    const hipError_t error = done(gpuEventCreateWithFlags(&made->event, gpuEventDisableTiming));
    if (error == hipSuccess) *event = reinterpret_cast<hipEvent_t>(made.release());
    return error;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
    return done(gpuEventRecord(event_of(event)->event, stream_of(stream)));
}

hipError_t hipEventQuery(hipEvent_t event) {
    const hipError_t error = done(gpuEventQuery(event_of(event)->event));
    if (error == hipSuccess && event_of(event)->publishes) mock::publish_incoherent();
    return error;
}

hipError_t hipEventSynchronize(hipEvent_t event) {
    const hipError_t error = done(gpuEventSynchronize(event_of(event)->event));
    if (event_of(event)->publishes) mock::publish_incoherent();
    return error;
}

hipError_t hipEventDestroy(hipEvent_t event) {
    const std::unique_ptr<Event> owner(event_of(event));
    return done(gpuEventDestroy(owner->event));
}

// Kernels --------------------------------------------------------------

hipError_t hipLaunchKernel(const void *kernel, dim3 blocks, dim3 threads, void **arguments,
                           size_t shared, hipStream_t stream) {
    const uint64_t all = uint64_t{blocks.x} * threads.x;
    if (all == 0 || all > UINT32_MAX || threads.x > 1024) return done(hipErrorInvalidConfiguration);
    blocks_launched = blocks.x;
    mock::fetch_incoherent();
    return done(gpuLaunchKernel(kernel, ucd::hostgpu::dim3(blocks.x), ucd::hostgpu::dim3(threads.x),
                                arguments, shared, stream_of(stream)));
}

hipError_t hipFuncGetAttributes(hipFuncAttributes *, const void *kernel) {
    gpuFuncAttributes attributes;
    return done(gpuFuncGetAttributes(&attributes, kernel));
}

} // extern "C"
