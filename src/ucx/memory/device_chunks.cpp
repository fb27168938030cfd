#include "memory/device_chunks.h"

#include "common/failure.h"

namespace ucd_ucx {

DeviceChunks::DeviceChunks(const std::string &device, uint64_t pinned_limit, uint64_t ring_limit)
    : device_(device),
      pinned({[this](std::size_t bytes) { return allocate(UCD_MEMORY__PINNED, bytes); },
              [](void *memory, std::size_t) { (void)ucd_memory_free(memory); }},
             pinned_limit),
      ring_({[this](std::size_t bytes) { return allocate_shared(bytes); },
             [this](void *memory, std::size_t) {
                 handles_.erase(memory);
                 (void)ucd_memory_free(memory); // cannot fail, since it was allocated here
             }},
            ring_limit) {}

// Drivers share whole pages. Each block has pages of its own, so that no other data is exposed.
uint64_t DeviceChunks::bytes_of_shared(uint64_t bytes) {
    constexpr uint64_t page = 2 << 20;
    return (bytes + page - 1) / page * page;
}

// The limit counts whole pages.
StagingBlock DeviceChunks::take_shared(uint64_t bytes, bool urgent) {
    return ring_.take(bytes_of_shared(bytes), urgent);
}

void *DeviceChunks::allocate(int kind, std::size_t bytes) const {
    void *memory = nullptr;
    // bounded: in Staging::take
    const int rc = ucd_memory_alloc(device_.c_str(), kind, bytes, &memory);
    return rc == UCD_SUCCESS ? memory : nullptr;
}

void *DeviceChunks::allocate_shared(std::size_t bytes) {
    void *const memory = allocate(UCD_MEMORY__DEVICE, bytes);
    ucd_ipc_handle_t handle = {};
    if (memory == nullptr) return nullptr;
    shared_ = ucd_ipc_export(memory, bytes, &handle) == UCD_SUCCESS;
    const Status noted = without_exceptions([&] {
        if (shared_) handles_[memory] = handle;
        return success;
    });
    if (shared_ && noted.ok()) return memory;
    (void)ucd_memory_free(memory);
    return nullptr;
}

} // namespace ucd_ucx
