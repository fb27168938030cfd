#include "memory/device_chunks.h"

namespace ucd_ucx {
namespace {

// Drivers share whole pages. Each block has pages of its own, so that no other data is exposed.
constexpr uint64_t page = 2 << 20;

ucd_ucx_params_t functions(void *(*allocate)(std::size_t, void *),
                                    void (*release)(void *, std::size_t, void *), void *arg) {
    ucd_ucx_params_t params = {};
    params.allocate = allocate;
    params.release = release;
    params.memory_arg = arg;
    return params;
}

} // namespace

DeviceChunks::DeviceChunks(const std::string &device, uint64_t pinned_limit, uint64_t ring_limit)
    : device_(device), pinned(functions(allocate_pinned, release_pinned, this), pinned_limit),
      ring_(functions(allocate_shared, release_shared, this), ring_limit) {}

uint64_t DeviceChunks::bytes_of_shared(uint64_t bytes) {
    return (bytes + page - 1) / page * page;
}

// The limit counts whole pages.
StagingBlock DeviceChunks::take_shared(uint64_t bytes, bool urgent) {
    return ring_.take(bytes_of_shared(bytes), urgent);
}

void *DeviceChunks::allocate_pinned(std::size_t bytes, void *chunks) {
    const auto *self = static_cast<DeviceChunks *>(chunks);
    void *memory = nullptr;
    // bounded: in Staging::take
    const int rc = ucd_memory_alloc(self->device_.c_str(), UCD_MEMORY__PINNED, bytes, &memory);
    return rc == UCD_SUCCESS ? memory : nullptr;
}

void DeviceChunks::release_pinned(void *memory, std::size_t, void *) {
    (void)ucd_memory_free(memory); // cannot fail, since the memory was allocated here
}

void *DeviceChunks::allocate_shared(std::size_t bytes, void *chunks) {
    auto *self = static_cast<DeviceChunks *>(chunks);
    ucd_ipc_handle_t handle = {};
    void *memory;
    // bounded: same
    if (ucd_memory_alloc(self->device_.c_str(), UCD_MEMORY__DEVICE, bytes, &memory) != UCD_SUCCESS)
        return nullptr;
    self->shared_ = ucd_ipc_export(memory, bytes, &handle) == UCD_SUCCESS;
    try {
        if (self->shared_) {
            self->handles_[memory] = handle;
            return memory;
        }
    } catch (const std::bad_alloc &) { // there is no memory for the block either
    }
    (void)ucd_memory_free(memory);
    return nullptr;
}

void DeviceChunks::release_shared(void *memory, std::size_t, void *chunks) {
    static_cast<DeviceChunks *>(chunks)->handles_.erase(memory);
    (void)ucd_memory_free(memory);
}

} // namespace ucd_ucx
