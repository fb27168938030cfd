// Memory of a window that the library has allocated, so that origins which the owner trusts can map
// it.
#pragma once

#include "direct/attachable_memory.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

namespace ucd_ucx::rma {

// Accumulates on it are done by one process at a time, which has the turn: so they are atomic with
// respect to each other for elements of every type. The owner has the turn while it does those that
// have come by message. An origin does not wait for the turn: it sends a message instead.
class WindowMemory {
public:
    static constexpr uint64_t owner = 1; // who has the turn; origins have other numbers

    // At the owner. `bytes` is not 0. Null if the system refuses.
    static std::unique_ptr<WindowMemory> make(uint64_t bytes);
    // At an origin. Null if the descriptor is not that of such memory.
    static std::unique_ptr<WindowMemory> open(int descriptor, uint64_t bytes);
    // At the owner: the system gets the memory back, though origins still have it mapped.
    ~WindowMemory();
    WindowMemory(const WindowMemory &) = delete;
    WindowMemory &operator=(const WindowMemory &) = delete;

    // What a peer's mapping costs this process: an entry of the kernel, and tables of pages.
    static uint64_t cost_of_mapping(uint64_t bytes) { return 1024 + bytes / 512; }

    char *base() const { return memory_->address(); }
    int descriptor() const { return descriptor_.get(); } // at the owner

    bool take_turn(uint64_t who) { return take_turn_from(0, who); }
    bool take_turn_from(uint64_t other, uint64_t who) {
        return turn_.compare_exchange_strong(other, who, std::memory_order_acquire,
                                             std::memory_order_relaxed);
    }
    uint64_t whose_turn() const { return turn_.load(std::memory_order_relaxed); }
    void end_turn() { turn_.store(0, std::memory_order_release); }

private:
    WindowMemory(std::unique_ptr<SharedMemory> memory, FileDescriptor descriptor);
    static std::unique_ptr<WindowMemory> make_on(std::unique_ptr<SharedMemory> memory,
                                                 FileDescriptor descriptor);

    const std::unique_ptr<SharedMemory> memory_;
    const FileDescriptor descriptor_;
    std::optional<AttachableMemory> attachable_; // at the owner
    std::atomic<uint64_t> &turn_;                // on a page behind the window
    static_assert(std::atomic<uint64_t>::is_always_lock_free);
};

} // namespace ucd_ucx::rma
