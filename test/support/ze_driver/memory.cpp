#include "support/ze_driver/memory.h"

#include <sys/mman.h>

namespace zedriver {
namespace {

constexpr std::size_t page = 4096;

struct Memory {
    std::mutex mutex;
    std::map<uintptr_t, Allocation> allocations;
    uint64_t next_id = 1;
    unsigned running = 0; // commands
};
Memory &memory() {
    static auto *m = new Memory;
    return *m;
}

// With the lock held.
Allocation *find_locked(const void *address) {
    const auto position = reinterpret_cast<uintptr_t>(address);
    auto it = memory().allocations.upper_bound(position);
    if (it == memory().allocations.begin()) return nullptr;
    --it;
    return position - it->first < it->second.bytes ? &it->second : nullptr;
}

void protect(const Allocation &allocation, bool accessible) {
    ::mprotect(allocation.address, allocation.mapped,
               accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void protect_devices(bool accessible) {
    for (const auto &[address, allocation] : memory().allocations)
        if (allocation.type == ZE_MEMORY_TYPE_DEVICE) protect(allocation, accessible);
}

} // namespace

DeviceAccess::DeviceAccess() {
    if (!knobs().strict) return;
    const std::lock_guard lock(memory().mutex);
    if (memory().running++ == 0) protect_devices(true);
}

DeviceAccess::~DeviceAccess() {
    if (!knobs().strict) return;
    const std::lock_guard lock(memory().mutex);
    if (--memory().running == 0) protect_devices(false);
}

bool find(const Context *context, const void *address, Allocation &found) {
    const std::lock_guard lock(memory().mutex);
    const Allocation *allocation = find_locked(address);
    if (allocation == nullptr || allocation->context != context) return false;
    found = *allocation;
    return true;
}

Result allocate(Context *context, std::size_t bytes, std::size_t alignment, ze_memory_type_t type,
                Device *device, void **address) {
    if (address == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (bytes == 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    if ((alignment & (alignment - 1)) != 0 || alignment > page)
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    const std::size_t mapped = (bytes + page - 1) / page * page;
    void *made =
        ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    const std::lock_guard lock(memory().mutex);
    const Allocation allocation{made, bytes, mapped, type, device, context, memory().next_id++};
    memory().allocations[reinterpret_cast<uintptr_t>(made)] = allocation;
    if (knobs().strict && type == ZE_MEMORY_TYPE_DEVICE && memory().running == 0)
        protect(allocation, false);
    ++objects;
    *address = made;
    return ZE_RESULT_SUCCESS;
}

Result release(Context *context, void *address) {
    const std::lock_guard lock(memory().mutex);
    const auto it = memory().allocations.find(reinterpret_cast<uintptr_t>(address));
    if (it == memory().allocations.end() || it->second.context != context)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    ::munmap(it->second.address, it->second.mapped);
    memory().allocations.erase(it);
    --objects;
    return ZE_RESULT_SUCCESS;
}

} // namespace zedriver
