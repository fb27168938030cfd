// Host memory of other processes that this process has mapped, to read from layout to layout. It is
// kept mapped for later transfers.
#pragma once

#include "common/ledger.h"
#include "direct/attachable_memory.h"

#include <cstdint>
#include <memory>
#include <ucp/api/ucp.h>
#include <utility>
#include <vector>

namespace ucd_ucx {

// Mapped for the lifetime of this object.
class AttachedMemory {
public:
    AttachedMemory(std::unique_ptr<SharedMemory> memory, Charge charge)
        : memory_(std::move(memory)), charge_(std::move(charge)) {}
    const char *address() const { return memory_->address(); }
    uint64_t bytes() const { return memory_->bytes(); }

private:
    const std::unique_ptr<SharedMemory> memory_;
    const Charge charge_;
};
using AttachedPtr = std::shared_ptr<const AttachedMemory>;

class AttachedMemories {
public:
    explicit AttachedMemories(Ledger &ledger) : ledger_(ledger) {}
    // What a mapping costs this process: an entry of the kernel, and tables of pages. It is charged
    // to the sender. If the sender's account has no room, memory of the same sender that is not in
    // use is unmapped.
    static uint64_t bytes_of(uint64_t mapped) { return 4096 + mapped / 512; }

    // Memory that the endpoint `sender` has offered before; else null. A handle gives no right by
    // itself, so the descriptor has to have come from the same sender.
    AttachedPtr find(ucp_ep_h sender, const ucd_ipc_handle_t &handle);
    // Maps memory by a descriptor, which is not needed afterwards. Null if it is not the memory
    // that the handle describes, if its size could change, or if there is no room for it.
    AttachedPtr open(ucp_ep_h sender, const ucd_ipc_handle_t &handle, int descriptor);
    // Unmaps all memory of the endpoint; what is in use, when its use ends.
    void close(ucp_ep_h sender);

private:
    struct KeptMemory {
        ucp_ep_h sender;
        ucd_ipc_handle_t handle;
        AttachedPtr memory;
        uint64_t used; // the time of the last use
    };
    static constexpr std::size_t max_idle = 64; // exceeded only while all are in use
    void make_room();
    Charge charge(ucp_ep_h sender, uint64_t bytes);

    Ledger &ledger_;
    std::vector<KeptMemory> entries_;
    uint64_t clock_ = 0;
};

} // namespace ucd_ucx
