// Which bytes of a transfer have come.
#pragma once

#include <cstdint>
#include <map>

namespace ucd_ucx {

class ByteRanges {
public:
    // More separate ranges than any sender has chunks under way.
    static constexpr std::size_t max_ranges = 4096;

    // Adds [begin, begin + bytes), which must not overflow. False, and nothing is added, if a byte
    // of it is there already, or if there would be more than max_ranges separate ranges. Throws
    // std::bad_alloc before anything is added.
    bool add(uint64_t begin, uint64_t bytes);
    uint64_t total() const { return total_; } // of bytes
    // What the ranges take of memory.
    uint64_t memory() const { return ranges_.size() * bytes_of_range; }
    static constexpr uint64_t bytes_of_range = 64;

private:
    std::map<uint64_t, uint64_t> ranges_; // begin to end; neighbours are joined
    uint64_t total_ = 0;
};

} // namespace ucd_ucx
