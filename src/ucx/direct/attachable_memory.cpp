#include "direct/attachable_memory.h"

#include "common/tokens.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>

namespace ucd_ucx {
namespace {

struct Attachable {
    uint64_t bytes;
    ucd_ipc_handle_t handle;
    int descriptor;
};

// Of the whole process, since one object may send what another one has allocated for a window.
std::mutex attachables_mutex;
std::map<uint64_t, Attachable> attachables; // by address; protected by attachables_mutex
std::atomic<std::size_t> number_of_attachables = 0;

} // namespace

uint64_t AttachableName::bytes_of(const ucd_ipc_handle_t &handle) {
    AttachableName name;
    static_assert(sizeof name <= sizeof handle.bytes);
    std::memcpy(static_cast<void *>(&name), handle.bytes, sizeof name);
    const bool is_good = name.letters == expected_letters &&
                         name.bytes <= static_cast<uint64_t>(INTPTR_MAX) &&
                         is_same(name.handle(), handle);
    return is_good ? name.bytes : 0;
}

ucd_ipc_handle_t AttachableName::handle() const {
    ucd_ipc_handle_t made = {};
    std::memcpy(made.bytes, this, sizeof *this);
    return made;
}

AttachableMemory::AttachableMemory(const SharedMemory &memory, int descriptor)
    : address_(reinterpret_cast<uintptr_t>(memory.address())) {
    AttachableName name;
    name.bytes = memory.bytes();
    for (uint64_t &part : name.id) part = random_token();
    const std::lock_guard lock(attachables_mutex);
    attachables[address_] = {memory.bytes(), name.handle(), descriptor};
    number_of_attachables = attachables.size();
}

AttachableMemory::~AttachableMemory() {
    const std::lock_guard lock(attachables_mutex);
    attachables.erase(address_);
    number_of_attachables = attachables.size();
}

bool AttachableMemory::find(uint64_t address, uint64_t bytes, ucd_ipc_handle_t &handle,
                            uint64_t &offset) {
    if (number_of_attachables == 0) return false;
    const std::lock_guard lock(attachables_mutex);
    auto found = attachables.upper_bound(address);
    if (found == attachables.begin()) return false;
    --found;
    offset = address - found->first;
    const uint64_t all = found->second.bytes;
    if (bytes > all || offset > all - bytes) return false;
    handle = found->second.handle;
    return true;
}

FileDescriptor AttachableMemory::open_to_read(const ucd_ipc_handle_t &handle) {
    const std::lock_guard lock(attachables_mutex);
    for (const auto &[address, attachable] : attachables) {
        if (!is_same(attachable.handle, handle)) continue;
        char path[32];
        (void)std::snprintf(path, sizeof path, "/proc/self/fd/%d", attachable.descriptor);
        return FileDescriptor(::open(path, O_RDONLY | O_CLOEXEC));
    }
    return {};
}

} // namespace ucd_ucx
