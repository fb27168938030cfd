#include "support/ze_driver/memory.h"

#include "support/ze_driver/controls.h"

#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zedriver {
namespace {

constexpr std::size_t page = 4096;

struct Memory {
    std::mutex mutex;
    std::map<uintptr_t, Allocation> allocations;
    uint64_t next_id = 1;
    unsigned running = 0;        // commands
    std::size_t left = SIZE_MAX; // for devices
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

bool may_use(const Context *context, const void *address) {
    const std::lock_guard lock(memory().mutex);
    const Allocation *allocation = find_locked(address);
    return allocation == nullptr || allocation->context == context;
}

namespace {

// With the lock held.
void add(const Allocation &allocation) {
    memory().allocations[reinterpret_cast<uintptr_t>(allocation.address)] = allocation;
    if (knobs().strict && allocation.type == ZE_MEMORY_TYPE_DEVICE && memory().running == 0)
        protect(allocation, false);
    ++objects;
}

bool may_take(std::size_t bytes) {
    const std::lock_guard lock(memory().mutex);
    if (bytes > memory().left) return false;
    if (memory().left < SIZE_MAX) memory().left -= bytes;
    return true;
}

Result end(Context *context, void *address, bool opened) {
    const std::lock_guard lock(memory().mutex);
    const auto it = memory().allocations.find(reinterpret_cast<uintptr_t>(address));
    if (it == memory().allocations.end() || it->second.context != context ||
        it->second.opened != opened)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    ::munmap(it->second.address, it->second.mapped);
    if (it->second.file >= 0) ::close(it->second.file);
    if (!opened && it->second.type == ZE_MEMORY_TYPE_DEVICE && memory().left < SIZE_MAX)
        memory().left += it->second.mapped;
    memory().allocations.erase(it);
    --objects;
    return ZE_RESULT_SUCCESS;
}

} // namespace

Result allocate(Context *context, std::size_t bytes, std::size_t alignment, ze_memory_type_t type,
                Device *device, void **address) {
    if (address == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (bytes == 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    if ((alignment & (alignment - 1)) != 0 || alignment > page)
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    const std::size_t mapped = (bytes + page - 1) / page * page;
    int file = -1;
    if (type == ZE_MEMORY_TYPE_DEVICE) {
        if (!may_take(mapped)) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
        file = ::memfd_create("device memory", MFD_CLOEXEC);
        if (file < 0 || ::ftruncate(file, static_cast<off_t>(mapped)) != 0)
            return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    const int flags = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *made = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, file, 0);
    if (made == MAP_FAILED) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    const std::lock_guard lock(memory().mutex);
    add({made, bytes, mapped, type, device, context, memory().next_id++, file, false});
    *address = made;
    return ZE_RESULT_SUCCESS;
}

Result release(Context *context, void *address) {
    return end(context, address, false);
}

// Other processes --------------------------------------------------------------

namespace {

// In what a handle has room for.
struct Shared {
    int file; // a descriptor of the process that made the handle
    uint64_t bytes;
};
static_assert(sizeof(Shared) <= sizeof(ze_ipc_mem_handle_t));

bool is_same_file(int one, const struct stat &other) {
    struct stat status;
    return ::fstat(one, &status) == 0 && status.st_dev == other.st_dev &&
           status.st_ino == other.st_ino;
}

} // namespace

Result share(Context *context, const void *address, ze_ipc_mem_handle_t &handle) {
    Allocation found{};
    if (!find(context, address, found) || found.file < 0 || found.address != address)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    Shared shared{found.file, found.bytes};
    if (!knobs().keeps) shared.file = ::fcntl(found.file, F_DUPFD_CLOEXEC, 0);
    if (shared.file < 0) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    handle = {};
    std::memcpy(handle.data, &shared, sizeof shared);
    return ZE_RESULT_SUCCESS;
}

// What is open already is there once: to be ended by one close.
Result open(Context *context, Device *device, const ze_ipc_mem_handle_t &handle, void **address) {
    Shared shared;
    std::memcpy(&shared, handle.data, sizeof shared);
    struct stat status;
    if (::fstat(shared.file, &status) != 0 || status.st_size <= 0 || shared.bytes == 0 ||
        shared.bytes > static_cast<uint64_t>(status.st_size))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const std::lock_guard lock(memory().mutex);
    for (const auto &[start, a] : memory().allocations)
        if (a.opened && a.context == context && a.device == device &&
            is_same_file(a.file, status)) {
            *address = a.address;
            return ZE_RESULT_SUCCESS;
        }
    const auto mapped = static_cast<std::size_t>(status.st_size);
    void *made = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, shared.file, 0);
    if (made == MAP_FAILED) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    add({made, shared.bytes, mapped, ZE_MEMORY_TYPE_DEVICE, device, context, memory().next_id++,
         ::fcntl(shared.file, F_DUPFD_CLOEXEC, 0), true});
    *address = made;
    return ZE_RESULT_SUCCESS;
}

Result close(Context *context, const void *address) {
    return end(context, const_cast<void *>(address), true);
}

} // namespace zedriver

void ucd_ze_driver_limit(unsigned long bytes) {
    const std::lock_guard lock(zedriver::memory().mutex);
    zedriver::memory().left = bytes > 0 ? bytes : SIZE_MAX;
}
