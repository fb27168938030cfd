// Compiled once for each vendor.
#include "vendor.hpp"

#include "vendor.h"

#include <stdexcept>
#include <string>

namespace ucdtest::UCD_GPU {
namespace {

void check(gpuError_t error) {
    if (error != gpuSuccess)
        throw std::runtime_error(std::string(ucd::UCD_GPU::vendor_name) + ": " +
                                 gpuGetErrorString(error));
}

gpuStream_t stream_of(void *stream) {
    return static_cast<gpuStream_t>(stream);
}

} // namespace

extern const Vendor vendor;
const Vendor vendor = {
    .name = ucd::UCD_GPU::vendor_name,
    .allocate_device =
        [](std::size_t bytes) {
            void *memory = nullptr;
            check(gpuSetDevice(0));
            check(gpuMalloc(&memory, bytes));
            return memory;
        },
    .allocate_pinned =
        [](std::size_t bytes) {
            void *memory = nullptr;
            check(gpuSetDevice(0));
            check(gpuHostAlloc(&memory, bytes, gpuHostAllocPortable));
            return memory;
        },
    .free_device = [](void *memory) { check(gpuFree(memory)); },
    .free_pinned = [](void *memory) { check(gpuHostFree(memory)); },
    .write =
        [](void *memory, const void *from, std::size_t bytes) {
            check(gpuMemcpy(memory, from, bytes, gpuMemcpyDefault));
            // From pageable memory, that returns before the data has arrived.
            check(gpuStreamSynchronize(nullptr));
        },
    .read = [](void *to, const void *memory,
               std::size_t bytes) { check(gpuMemcpy(to, memory, bytes, gpuMemcpyDefault)); },
    .create_stream = []() -> void * {
        gpuStream_t stream = nullptr;
        int lowest = 0, highest = 0;
        check(gpuSetDevice(0));
        check(gpuDeviceGetStreamPriorityRange(&lowest, &highest));
        check(gpuStreamCreateWithPriority(&stream, gpuStreamNonBlocking, lowest));
        return stream;
    },
    .synchronise = [](void *stream) { check(gpuStreamSynchronize(stream_of(stream))); },
    .destroy_stream = [](void *stream) { check(gpuStreamDestroy(stream_of(stream))); },
};

} // namespace ucdtest::UCD_GPU
