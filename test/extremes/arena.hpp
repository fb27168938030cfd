// Large memory, on the host or on a device, whose contents are a function of the place: nothing
// else is kept to compare.
#pragma once

#include "support/fake_device/fake_driver.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/mman.h>

namespace extremes {

// What word `i` of contents number `salt` is.
inline std::uint64_t word(std::uint64_t i, std::uint64_t salt) {
    const std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u + salt;
    return x ^ x >> 29;
}
inline std::uint8_t byte(std::uint64_t i, std::uint64_t salt) {
    return static_cast<std::uint8_t>(word(i, salt) >> 56);
}

class Arena {
public:
    Arena(std::size_t bytes, bool on_device) : bytes_(bytes), on_device_(on_device) {
        if (on_device)
            memory_ = mock::allocate(ucd::MemoryKind::device, 0, bytes);
        else
            memory_ =
                mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory_ == nullptr || memory_ == MAP_FAILED)
            throw std::runtime_error("no memory for " + std::to_string(bytes) + " bytes");
    }
    ~Arena() {
        if (on_device_)
            mock::release(memory_);
        else
            munmap(memory_, bytes_);
    }
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;

    void *address() const { return memory_; }
    std::size_t bytes() const { return bytes_; }

    // Sets item i to make(i); an Item divides the arena.
    template <class Item, class Make>
    void fill(const Make &make) {
        each_chunk<Item>(
            [&](Item *items, std::size_t first, std::size_t n) {
                for (std::size_t k = 0; k < n; ++k) items[k] = make(first + k);
                return true;
            },
            true);
    }
    // Whether item i is make(i), for all of them; if not, throws with the first that is not.
    template <class Item, class Make>
    void check(const char *what, const Make &make) {
        each_chunk<Item>(
            [&](Item *items, std::size_t first, std::size_t n) {
                for (std::size_t k = 0; k < n; ++k)
                    if (items[k] != make(first + k))
                        throw std::runtime_error(std::string(what) + ": item " +
                                                 std::to_string(first + k) + " is wrong");
                return true;
            },
            false);
    }

private:
    static constexpr std::size_t chunk_bytes = std::size_t{64} << 20;

    template <class Item, class Visit>
    void each_chunk(const Visit &visit, bool store) {
        const std::size_t items = bytes_ / sizeof(Item), per_chunk = chunk_bytes / sizeof(Item);
        std::vector<Item> copy(on_device_ ? std::min(items, per_chunk) : 0);
        for (std::size_t first = 0; first < items; first += per_chunk) {
            const std::size_t n = std::min(per_chunk, items - first);
            Item *const there = static_cast<Item *>(memory_) + first;
            if (on_device_ && !store) mock::read(copy.data(), there, n * sizeof(Item));
            visit(on_device_ ? copy.data() : there, first, n);
            if (on_device_ && store) mock::write(there, copy.data(), n * sizeof(Item));
        }
    }

    void *memory_ = nullptr;
    std::size_t bytes_;
    bool on_device_;
};

} // namespace extremes
