// Host memory that other processes can map, to read it from layout to layout: what the library has
// allocated for windows.
#pragma once

#include "direct/shared_memory.h"
#include "memory/kept_memory.h"

#include <cstdint>
#include <memory>
#include <ucd_memory.h>
#include <utility>

namespace ucd_ucx {

// What a handle contains that names such memory.
struct AttachableName {
    static constexpr uint64_t expected_letters = 0x4d454d4844524853; // "SHRDHMEM"
    uint64_t letters = expected_letters;
    uint64_t bytes = 0;
    uint64_t id[2] = {}; // random: no two memories have the same

    static AttachableName of(const ucd_ipc_handle_t &handle);
    ucd_ipc_handle_t handle() const;
};

// Memory of this process. As long as it exists, it can be found. Any thread may call its functions.
class AttachableMemory {
public:
    // The descriptor stays open as long as this exists.
    AttachableMemory(const SharedMemory &memory, int descriptor);
    ~AttachableMemory();
    AttachableMemory(const AttachableMemory &) = delete;
    AttachableMemory &operator=(const AttachableMemory &) = delete;

    // Finds the memory that contains a range, and the distance of the range from its beginning.
    static bool find(uint64_t address, uint64_t bytes, ucd_ipc_handle_t &handle, uint64_t &offset);
    // A descriptor of the memory for another process, opened for reading, so that no mistake
    // writes. Who has it can open it anew for writing, by /proc. Empty if the memory is gone, or if
    // the system refuses.
    static FileDescriptor open_to_read(const ucd_ipc_handle_t &handle);

private:
    const uint64_t address_;
};

// Memory of another process, mapped for the lifetime of this object.
class AttachedMemory {
public:
    AttachedMemory(ucp_ep_h from, const ucd_ipc_handle_t &handle,
                   std::unique_ptr<SharedMemory> memory, Charge charge)
        : sender(from), handle_(handle), memory_(std::move(memory)), charge_(std::move(charge)) {}
    const char *address() const { return memory_->address(); }
    uint64_t bytes() const { return memory_->bytes(); }
    const ucp_ep_h sender;

private:
    friend class AttachedMemories;
    const ucd_ipc_handle_t handle_;
    const std::unique_ptr<SharedMemory> memory_;
    const Charge charge_;
};
using AttachedPtr = std::shared_ptr<const AttachedMemory>;

// Keeps such memory mapped for later transfers.
class AttachedMemories {
public:
    explicit AttachedMemories(Ledger &ledger) : kept_(ledger) {}
    // What a mapping costs this process: an entry of the kernel, and tables of pages.
    static uint64_t bytes_of(uint64_t mapped) { return 4096 + mapped / 512; }

    // Memory that the endpoint `sender` has offered before; else null. A handle gives no right by
    // itself, so the descriptor has to have come from the same sender.
    AttachedPtr find(ucp_ep_h sender, const ucd_ipc_handle_t &handle);
    // Maps memory by a descriptor, which is not needed afterwards. Null if it is not the memory
    // that the handle describes, if its size could change, or if there is no room for it.
    AttachedPtr open(ucp_ep_h sender, const ucd_ipc_handle_t &handle, int descriptor);
    // Unmaps all memory of the endpoint; what is in use, when its use ends.
    void close(ucp_ep_h sender) { kept_.close(sender); }

private:
    KeptMemory<AttachedMemory> kept_;
};

} // namespace ucd_ucx
