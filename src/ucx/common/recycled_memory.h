// Memory of objects that were deleted, for the next ones of their size.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <new>

namespace ucd_ucx {

// For operations that are outstanding by the dozen: malloc keeps few of a size at hand (glibc seven
// for a thread), and beyond them takes longer than all else that a small operation needs. Any
// thread may call; one that finds another at it uses the heap.
template <std::size_t size, std::size_t most>
class RecycledMemory {
public:
    RecycledMemory() = default;
    ~RecycledMemory() {
        while (count_ > 0) ::operator delete(kept_[--count_]);
    }
    RecycledMemory(const RecycledMemory &) = delete;
    RecycledMemory &operator=(const RecycledMemory &) = delete;

    void *take() {
        void *memory = nullptr;
        if (!busy_.test_and_set(std::memory_order_acquire)) {
            if (count_ > 0) memory = kept_[--count_];
            busy_.clear(std::memory_order_release);
        }
        return memory != nullptr ? memory : ::operator new(size);
    }
    void give_back(void *memory) {
#ifndef __SANITIZE_ADDRESS__ // which is to see what is used after it was deleted
        if (!busy_.test_and_set(std::memory_order_acquire)) {
            const bool fits = count_ < most;
            if (fits) kept_[count_++] = memory;
            busy_.clear(std::memory_order_release);
            if (fits) return;
        }
#endif
        ::operator delete(memory);
    }

private:
    std::atomic_flag busy_;
    std::size_t count_ = 0;
    std::array<void *, most> kept_;
};

} // namespace ucd_ucx
