#include "direct/attached_memory.h"

#include <algorithm>
#include <cstring>

namespace ucd_ucx {

AttachedPtr AttachedMemories::find(ucp_ep_h sender, const ucd_ipc_handle_t &handle) {
    for (KeptMemory &e : entries_) {
        if (e.sender != sender || std::memcmp(&e.handle, &handle, sizeof handle) != 0) continue;
        e.used = ++clock_;
        return e.memory;
    }
    return nullptr;
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
    make_room();
    Charge charged = charge(sender, bytes_of(name.bytes));
    if (!charged) return nullptr;
    entries_.reserve(entries_.size() + 1);
    std::unique_ptr<SharedMemory> mapped = SharedMemory::open_to_read(descriptor, name.bytes);
    if (mapped == nullptr) return nullptr;
    auto memory = std::make_shared<const AttachedMemory>(std::move(mapped), std::move(charged));
    entries_.push_back({sender, handle, memory, ++clock_});
    return memory;
}

void AttachedMemories::close(ucp_ep_h sender) {
    std::erase_if(entries_, [sender](const KeptMemory &e) { return e.sender == sender; });
}

void AttachedMemories::make_room() {
    while (entries_.size() >= max_idle) {
        auto oldest = entries_.end();
        for (auto e = entries_.begin(); e != entries_.end(); ++e)
            if (e->memory.use_count() == 1 && (oldest == entries_.end() || e->used < oldest->used))
                oldest = e;
        if (oldest == entries_.end()) return;
        entries_.erase(oldest);
    }
}

Charge AttachedMemories::charge(ucp_ep_h sender, uint64_t bytes) {
    Charge charged = ledger_.take(sender, bytes, LedgerUse::request);
    const auto goes = [sender](const KeptMemory &e) {
        return e.sender == sender && e.memory.use_count() == 1;
    };
    if (!charged && std::erase_if(entries_, goes) > 0)
        charged = ledger_.take(sender, bytes, LedgerUse::request);
    return charged;
}

} // namespace ucd_ucx
