// Builds the lists and nodes for the device in one piece of memory.
#pragma once

#include "huge_pages.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ucd::gpu {

class ListBuilder {
public:
    // Adds a copy of the entries and returns its offset, a multiple of 16.
    template <class List>
    uint64_t add(const List &entries) {
        const uint64_t at = (bytes_.size() + 15) / 16 * 16;
        const std::size_t bytes = entries.size() * sizeof(entries[0]);
        bytes_.resize(at + bytes);
        if (bytes > 0) __builtin_memcpy(bytes_.data() + at, entries.data(), bytes);
        return at;
    }
    // Adds `count` entries, which entry(i) computes one by one, and returns their offset.
    template <class T, class Entry>
    uint64_t make(std::size_t count, Entry entry) {
        const uint64_t at = (bytes_.size() + 15) / 16 * 16;
        const std::size_t end = at + count * sizeof(T);
        // performance only: reserves all memory at once, and in large pages
        if (end > bytes_.capacity()) {
            bytes_.reserve(end);
            prefer_huge_pages(bytes_.data(), end);
        }
        bytes_.resize(at);
        // Works in parts that stay in a cache, so that memory is not zeroed before it is written.
        std::array<T, 1024> part;
        const auto *const made = reinterpret_cast<const char *>(part.data());
        for (std::size_t i = 0; i < count; i += part.size()) {
            const std::size_t size = std::min(part.size(), count - i);
            for (std::size_t k = 0; k < size; ++k) part[k] = entry(i + k);
            bytes_.insert(bytes_.end(), made, made + size * sizeof(T));
        }
        return at;
    }
    std::size_t size() const { return bytes_.size(); }
    // Returns the lists in memory of exactly their size.
    std::vector<char> take() {
        bytes_.shrink_to_fit();
        return std::move(bytes_);
    }

private:
    std::vector<char> bytes_;
};

} // namespace ucd::gpu
