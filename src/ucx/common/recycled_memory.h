// Reuses the memory of deleted objects of one size.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <new>

namespace ucd_ucx {

// For operations of which dozens are outstanding at a time: malloc caches few blocks of a size
// (glibc: seven per thread), and without a cached block it takes longer than the rest of a small
// operation. Any thread may call; if another thread is using the cache, it falls back to the heap.
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
#ifndef __SANITIZE_ADDRESS__ // ASan has to see uses of deleted objects
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
