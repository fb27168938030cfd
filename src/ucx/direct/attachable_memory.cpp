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
    AttachableName name;
    int descriptor;
};

// Of the whole process, since one object may send what another one has allocated for a window.
std::mutex attachables_mutex;
std::map<uint64_t, Attachable> attachables; // by address; protected by attachables_mutex
std::atomic<std::size_t> number_of_attachables = 0;

} // namespace

AttachableName AttachableName::of(const ucd_ipc_handle_t &handle) {
    AttachableName name;
    static_assert(sizeof name <= sizeof handle.bytes);
    std::memcpy(static_cast<void *>(&name), handle.bytes, sizeof name);
    return name;
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
    attachables[address_] = {name, descriptor};
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
    const AttachableName &name = found->second.name;
    offset = address - found->first;
    if (bytes > name.bytes || offset > name.bytes - bytes) return false;
    handle = name.handle();
    return true;
}

FileDescriptor AttachableMemory::open_to_read(const ucd_ipc_handle_t &handle) {
    const AttachableName name = AttachableName::of(handle);
    const std::lock_guard lock(attachables_mutex);
    for (const auto &[address, attachable] : attachables) {
        if (std::memcmp(attachable.name.id, name.id, sizeof name.id) != 0) continue;
        char path[32];
        (void)std::snprintf(path, sizeof path, "/proc/self/fd/%d", attachable.descriptor);
        return FileDescriptor(::open(path, O_RDONLY | O_CLOEXEC));
    }
    return {};
}

AttachedPtr AttachedMemories::find(ucp_ep_h sender, const ucd_ipc_handle_t &handle) {
    return kept_.find([&](const AttachedMemory &memory) {
        return memory.sender == sender &&
               std::memcmp(memory.handle_.bytes, handle.bytes, sizeof handle.bytes) == 0;
    });
}

// The peer states the size. It is compared with the descriptor's before anything is mapped.
AttachedPtr AttachedMemories::open(ucp_ep_h sender, const ucd_ipc_handle_t &handle,
                                   int descriptor) {
    const AttachableName name = AttachableName::of(handle);
    const ucd_ipc_handle_t of_name = name.handle(); // the rest is 0
    if (name.letters != AttachableName::expected_letters || name.bytes == 0 ||
        name.bytes > static_cast<uint64_t>(INTPTR_MAX) ||
        std::memcmp(of_name.bytes, handle.bytes, sizeof handle.bytes) != 0)
        return nullptr;
    Charge charge = kept_.make_room(sender, bytes_of(name.bytes));
    if (!charge) return nullptr;
    std::unique_ptr<SharedMemory> mapped = SharedMemory::open_to_read(descriptor, name.bytes);
    if (mapped == nullptr) return nullptr;
    auto memory = std::make_shared<const AttachedMemory>(sender, handle, std::move(mapped),
                                                         std::move(charge));
    kept_.add(memory);
    return memory;
}

} // namespace ucd_ucx
