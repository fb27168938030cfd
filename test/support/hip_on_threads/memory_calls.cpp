// HIP's calls about memory, done by the host vendor's runtime.
#include "support/hip_on_threads/calls.h"
#include "support/hip_on_threads/control.h"

#include "support/host_vendor/state.h"

#include <cstring>

using namespace hip_on_threads;

namespace {

bool is_in(const void *address, mock::Allocation &a) {
    return mock::find(address, a);
}

hipError_t rights(const hipMemLocation &location, const void *address, bool &may_write) {
    mock::Allocation a;
    if (!mock::knobs.pools || !is_in(address, a) || a.kind != ucd::MemoryKind::device)
        return hipErrorInvalidValue;
    may_write = mock::reaches(location.id, a.kind, a.device);
    return hipSuccess;
}

gpuPitchedPtr plain(const hipPitchedPtr &p) {
    return {p.ptr, p.pitch, p.xsize, p.ysize};
}

} // namespace

extern "C" {

hipError_t hipMalloc(void **memory, size_t bytes) {
    return done(gpuMalloc(memory, bytes));
}

hipError_t hipFree(void *memory) {
    return done(gpuFree(memory));
}

hipError_t hipHostMalloc(void **memory, size_t bytes, unsigned flags) {
    if ((flags & hipHostMallocNonCoherent) == 0) return done(gpuHostAlloc(memory, bytes, flags));
    *memory = mock::allocate_incoherent(ucd::hostgpu::current_device, bytes);
    ++mock::counts.live_allocations;
    return done(hipSuccess);
}

hipError_t hipHostFree(void *memory) {
    return done(gpuHostFree(memory));
}

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *memory) {
    gpuIpcMemHandle_t native;
    static_assert(sizeof native == sizeof *handle);
    const hipError_t error = done(gpuIpcGetMemHandle(&native, memory));
    std::memcpy(handle, &native, sizeof native);
    return error;
}

hipError_t hipIpcOpenMemHandle(void **memory, hipIpcMemHandle_t handle, unsigned flags) {
    gpuIpcMemHandle_t native;
    std::memcpy(&native, &handle, sizeof native);
    return done(gpuIpcOpenMemHandle(memory, native, flags));
}

hipError_t hipIpcCloseMemHandle(void *memory) {
    return done(gpuIpcCloseMemHandle(memory));
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind,
                          hipStream_t stream) {
    mock::fetch_incoherent();
    return done(gpuMemcpyAsync(to, from, bytes, gpuMemcpyDefault, stream_of(stream)));
}

hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t width, size_t height, hipMemcpyKind, hipStream_t stream) {
    mock::fetch_incoherent();
    return done(gpuMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, gpuMemcpyDefault,
                                 stream_of(stream)));
}

hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *copy, hipStream_t stream) {
    mock::fetch_incoherent();
    const gpuMemcpy3DParms native = {plain(copy->srcPtr),
                                     plain(copy->dstPtr),
                                     {copy->extent.width, copy->extent.height, copy->extent.depth},
                                     gpuMemcpyDefault};
    return done(gpuMemcpy3DAsync(&native, stream_of(stream)));
}

// What memory is --------------------------------------------------------------

hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *address) {
    ++mock::counts.queries;
    if (ucd::hostgpu::is_refused()) return done(hipErrorUnknown);
    *attributes = {};
    mock::Allocation a;
    const bool known = is_in(address, a);
#if HIP_VERSION_MAJOR >= 6
    attributes->type = !known                               ? hipMemoryTypeUnregistered
                       : a.kind == ucd::MemoryKind::pinned  ? hipMemoryTypeHost
                       : a.kind == ucd::MemoryKind::managed ? hipMemoryTypeManaged
                                                            : hipMemoryTypeDevice;
    attributes->device = -2; // if it is none's
    if (!known) return done(hipSuccess);
#else
    if (!known) return done(hipErrorInvalidValue);
    attributes->memoryType =
        a.kind == ucd::MemoryKind::pinned ? hipMemoryTypeHost : hipMemoryTypeDevice;
#endif
    attributes->isManaged = a.kind == ucd::MemoryKind::managed;
    attributes->device = a.device;
    attributes->devicePointer = const_cast<void *>(address);
    attributes->hostPointer =
        a.kind == ucd::MemoryKind::device ? nullptr : const_cast<void *>(address);
    return done(hipSuccess);
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t *start, size_t *bytes, hipDeviceptr_t address) {
    if (ucd::hostgpu::is_refused()) return done(hipErrorUnknown);
    mock::Allocation a;
    if (knobs.hides_ranges || !is_in(address, a)) return done(hipErrorInvalidValue);
    *start = a.address;
    *bytes = a.bytes;
    if (a.kind == ucd::MemoryKind::managed && knobs.reserves) {
        *start = a.address - (1 << 20);
        *bytes += 2 << 20;
    }
    return done(hipSuccess);
}

hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *location,
                           void *address) {
    if (ucd::hostgpu::is_refused()) return done(hipErrorUnknown);
    bool may_write = false;
    if (!knobs.rights_are_of_ranges) return done(hipErrorInvalidValue);
    const hipError_t error = rights(*location, address, may_write);
    *flags = may_write ? hipMemAccessFlagsProtReadWrite : hipMemAccessFlagsProtNone;
    return done(error);
}

// Pools are addresses that are in them.
hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute,
                                  hipDeviceptr_t address) {
    if (ucd::hostgpu::is_refused()) return done(hipErrorUnknown);
    mock::Allocation a;
    if (attribute != HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE || !is_in(address, a) ||
        knobs.rights_are_of_ranges)
        return done(hipErrorInvalidValue);
    *static_cast<void **>(data) = mock::knobs.pools ? address : nullptr;
    return done(hipSuccess);
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t pool,
                               hipMemLocation *location) {
    if (ucd::hostgpu::is_refused()) return done(hipErrorUnknown);
    bool may_write = false;
    const hipError_t error = rights(*location, pool, may_write);
    *flags = may_write ? hipMemAccessFlagsProtReadWrite : hipMemAccessFlagsProtNone;
    return done(error);
}

} // extern "C"
