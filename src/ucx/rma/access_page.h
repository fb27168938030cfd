// Memory that the owner of windows shares with an origin: which windows the origin may access by
// itself, and whether it is doing so now.
#pragma once

#include "direct/shared_memory.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace ucd_ucx::rma {

// As in Dekker's algorithm, each side writes before it reads. The origin writes that it is
// accessing a window, and then reads whether the window is granted; the owner withdraws the grant,
// and then reads whether the origin is accessing a window. So at least one of them sees what the
// other wrote.
class AccessPage {
public:
    static constexpr std::size_t bytes = SharedMemory::page;
    static constexpr std::size_t max_windows = bytes / sizeof(uint64_t) - 1;

    // At the owner. The descriptor is for the origin, which cannot change the size. Null if the
    // system refuses.
    static std::unique_ptr<AccessPage> make(FileDescriptor &descriptor) {
        return on(SharedMemory::make("ucd-windows", bytes, descriptor));
    }
    // At the origin. Null if the descriptor is not that of such a page.
    static std::unique_ptr<AccessPage> open(int descriptor) {
        return on(SharedMemory::open(descriptor, bytes));
    }

    // The owner's functions. A generation is a number that is never used twice, and not 0.
    void grant(std::size_t place, uint64_t generation) { shared_.windows[place] = generation; }
    void withdraw(std::size_t place) { shared_.windows[place] = 0; }
    bool is_in_use() const { return shared_.in_use != 0; }

    // The origin's functions. It accesses the window only between the two, and only if `begin`
    // returns true.
    bool begin(std::size_t place, uint64_t generation) {
        shared_.in_use = 1;
        if (place < max_windows && shared_.windows[place] == generation) [[likely]]
            return true;
        end();
        return false;
    }
    void end() { shared_.in_use.store(0, std::memory_order_release); }
    // Whether it is still granted. If not, it never will be again.
    bool grants(uint64_t place, uint64_t generation) const {
        return place < max_windows &&
               shared_.windows[place].load(std::memory_order_relaxed) == generation;
    }

private:
    struct Shared {
        std::atomic<uint64_t> in_use;
        std::atomic<uint64_t> windows[max_windows]; // generations; 0: none
    };
    static_assert(sizeof(Shared) == bytes && std::atomic<uint64_t>::is_always_lock_free);
    static std::unique_ptr<AccessPage> on(std::unique_ptr<SharedMemory> memory) {
        return std::unique_ptr<AccessPage>(
            memory == nullptr ? nullptr : new (std::nothrow) AccessPage(std::move(memory)));
    }
    explicit AccessPage(std::unique_ptr<SharedMemory> memory)
        : memory_(std::move(memory)), shared_(*reinterpret_cast<Shared *>(memory_->address())) {}

    const std::unique_ptr<SharedMemory> memory_;
    Shared &shared_;
};

} // namespace ucd_ucx::rma
