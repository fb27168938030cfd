// Allocations and copies.

#include "context.h"
#include "ipc.h"
#include "loader.h"
#include "streams.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>

namespace ucd::ze {
namespace {

constexpr std::size_t alignment = 64;

// gpu_common has one error for host and device memory running out.
ze_result_t one_shortage(ze_result_t result) {
    return result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ? gpuErrorMemoryAllocation : result;
}

ze_device_mem_alloc_desc_t device_description() {
    ze_device_mem_alloc_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
    return description;
}

ze_host_mem_alloc_desc_t host_description() {
    ze_host_mem_alloc_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
    return description;
}

bool is_pageable(const void *address) {
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    return calls().zeMemGetAllocProperties(current_context(), address, &properties, nullptr) !=
               ZE_RESULT_SUCCESS ||
           properties.type == ZE_MEMORY_TYPE_UNKNOWN;
}

// Copies of pageable source memory, which are kept until the device has read them: a command list
// reads its sources when it runs, not when the command is appended.
class Snapshots {
public:
    static Snapshots &instance() {
        static auto *snapshots = new Snapshots; // never destroyed
        return *snapshots;
    }

    ze_result_t copy(Stream &stream, void *to, const void *from, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        free_copied();
        Snapshot &snapshot = snapshots_.emplace_back();
        snapshot.context = current_context();
        const ze_host_mem_alloc_desc_t description = host_description();
        ze_result_t result = one_shortage(calls().zeMemAllocHost(
            snapshot.context, &description, bytes, alignment, &snapshot.memory));
        if (result != ZE_RESULT_SUCCESS) {
            snapshots_.pop_back();
            return result;
        }
        std::memcpy(snapshot.memory, from, bytes);
        bool started = false;
        result = stream.add([&](ze_command_list_handle_t list) {
            const ze_result_t copied = calls().zeCommandListAppendMemoryCopy(
                list, to, snapshot.memory, bytes, nullptr, 0, nullptr);
            started = copied == ZE_RESULT_SUCCESS;
            return copied;
        });
        if (result == ZE_RESULT_SUCCESS) result = stream.record(snapshot.copied);
        // If the event could not be recorded, the stream is synchronised instead. If that fails,
        // too, the device may still read the memory, so it is leaked.
        if (result != ZE_RESULT_SUCCESS && started && stream.synchronize() != ZE_RESULT_SUCCESS)
            snapshots_.pop_back();
        return result;
    }

private:
    struct Snapshot {
        ze_context_handle_t context = nullptr;
        void *memory = nullptr;
        StreamPoint copied;
    };
    void free_copied() {
        snapshots_.remove_if([](const Snapshot &s) {
            if (s.copied.query() == ZE_RESULT_NOT_READY) return false;
            (void)calls().zeMemFree(s.context, s.memory);
            return true;
        });
    }
    std::mutex mutex_;
    std::list<Snapshot> snapshots_;
};

// zeCommandListAppendMemoryCopyRegion has pitches of 32 bits.
bool fits_region(std::size_t to_pitch, std::size_t from_pitch, std::size_t width,
                 std::size_t height) {
    return std::max({to_pitch, from_pitch, width, height}) <= UINT32_MAX;
}

ze_result_t copy_region(Stream &stream, void *to, std::size_t to_pitch, const void *from,
                        std::size_t from_pitch, std::size_t width, std::size_t height) {
    const ze_copy_region_t region{
        0, 0, 0, static_cast<uint32_t>(width), static_cast<uint32_t>(height), 1};
    return stream.add_copy([&](ze_command_list_handle_t list) {
        return calls().zeCommandListAppendMemoryCopyRegion(
            list, to, &region, static_cast<uint32_t>(to_pitch), 0, from, &region,
            static_cast<uint32_t>(from_pitch), 0, nullptr, 0, nullptr);
    });
}

} // namespace
} // namespace ucd::ze

using namespace ucd::ze;

gpuError_t gpuMalloc(void **memory, std::size_t bytes) {
    const ze_device_mem_alloc_desc_t description = device_description();
    return one_shortage(calls().zeMemAllocDevice(current_context(), &description, bytes, alignment,
                                                 found().of(current_device()).device, memory));
}

gpuError_t gpuFree(void *memory) {
    forget_export(memory);
    return calls().zeMemFree(current_context(), memory);
}

gpuError_t gpuHostAlloc(void **memory, std::size_t bytes, unsigned) {
    const ze_host_mem_alloc_desc_t description = host_description();
    return one_shortage(
        calls().zeMemAllocHost(current_context(), &description, bytes, alignment, memory));
}

gpuError_t gpuHostFree(void *memory) {
    return gpuFree(memory);
}

gpuError_t gpuMallocManaged(void **memory, std::size_t bytes) {
    const ze_device_mem_alloc_desc_t device = device_description();
    const ze_host_mem_alloc_desc_t host = host_description();
    return one_shortage(calls().zeMemAllocShared(current_context(), &device, &host, bytes,
                                                 alignment, found().of(current_device()).device,
                                                 memory));
}

gpuError_t gpuMemcpyAsync(void *to, const void *from, std::size_t bytes, gpuMemcpyKind kind,
                          gpuStream_t stream) {
    if (is_pageable(from)) return Snapshots::instance().copy(*stream, to, from, bytes);
    const auto append = [&](ze_command_list_handle_t list) {
        return calls().zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr);
    };
    return kind == gpuMemcpyByEngine ? stream->add_copy(append) : stream->add(append);
}

gpuError_t gpuMemcpy2DAsync(void *to, std::size_t to_pitch, const void *from,
                            std::size_t from_pitch, std::size_t width, std::size_t height,
                            gpuMemcpyKind, gpuStream_t stream) {
    if (fits_region(to_pitch, from_pitch, width, height))
        return copy_region(*stream, to, to_pitch, from, from_pitch, width, height);
    for (std::size_t row = 0; row < height; ++row) {
        const ze_result_t result = gpuMemcpyAsync(
            static_cast<char *>(to) + row * to_pitch,
            static_cast<const char *>(from) + row * from_pitch, width, gpuMemcpyByEngine, stream);
        if (result != ZE_RESULT_SUCCESS) return result;
    }
    return gpuSuccess;
}

gpuError_t gpuMemcpy3DAsync(const gpuMemcpy3DParms *copy, gpuStream_t stream) {
    const gpuPitchedPtr &to = copy->dstPtr, &from = copy->srcPtr;
    for (std::size_t plane = 0; plane < copy->extent.depth; ++plane) {
        const ze_result_t result = gpuMemcpy2DAsync(
            static_cast<char *>(to.ptr) + plane * to.pitch * to.ysize, to.pitch,
            static_cast<const char *>(from.ptr) + plane * from.pitch * from.ysize, from.pitch,
            copy->extent.width, copy->extent.height, gpuMemcpyDefault, stream);
        if (result != ZE_RESULT_SUCCESS) return result;
    }
    return gpuSuccess;
}

gpuError_t gpuMemcpy(void *to, const void *from, std::size_t bytes, gpuMemcpyKind) {
    gpuStream_t stream = nullptr;
    ze_result_t result = gpuStreamCreateWithPriority(&stream, 0, 0);
    if (result != ZE_RESULT_SUCCESS) return result;
    result = gpuMemcpyAsync(to, from, bytes, gpuMemcpyDefault, stream);
    if (result == ZE_RESULT_SUCCESS) result = stream->synchronize();
    (void)gpuStreamDestroy(stream);
    return result;
}
