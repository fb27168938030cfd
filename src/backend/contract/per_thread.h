// Splits an object that threads would share into parts. Up to as many threads as there are parts
// have a part of their own. More threads share parts, so each part has a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace ucd {

// Threads are numbered in the order of their first call of this function.
inline std::size_t thread_number() {
    static std::atomic<std::size_t> threads{0};
    thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
    return number;
}

inline constexpr std::size_t thread_parts = 16;

inline std::size_t own_thread_part() {
    return thread_number() % thread_parts;
}

template <class T>
class PerThread {
public:
    T &own() { return parts_[own_thread_part()].value; }
    T &operator[](std::size_t part) { return parts_[part].value; }

    template <class Body>
    void for_each(Body body) {
        for (Padded &part : parts_) body(part.value);
    }

private:
    // 128, because processors fetch cache lines in pairs.
    struct alignas(128) Padded {
        T value;
    };
    std::array<Padded, thread_parts> parts_;
};

} // namespace ucd
