// Lists and nodes as the device will have them, in one piece of memory.
#pragma once

#include <cstdint>
#include <vector>

namespace ucd::gpu {

class ListBuilder {
public:
    // The offset of a copy of the entries, which starts on 16 bytes.
    template <class T>
    uint64_t add(const std::vector<T> &entries) {
        const uint64_t at = (bytes_.size() + 15) / 16 * 16;
        bytes_.resize(at + entries.size() * sizeof(T));
        if (!entries.empty())
            __builtin_memcpy(bytes_.data() + at, entries.data(), entries.size() * sizeof(T));
        return at;
    }
    std::size_t size() const { return bytes_.size(); }
    // In memory of exactly their size.
    std::vector<char> take() {
        bytes_.shrink_to_fit();
        return std::move(bytes_);
    }

private:
    std::vector<char> bytes_;
};

} // namespace ucd::gpu
