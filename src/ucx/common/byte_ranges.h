// The byte ranges of a transfer that have arrived.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace ucd_ucx {

class ByteRanges {
public:
    // A limit that no honest sender reaches: its chunks in flight are far fewer.
    static constexpr std::size_t max_ranges = 4096;

    // Adds [begin, begin + bytes), which must not overflow. Returns false and adds nothing if one
    // of these bytes was added before, or if there would be more than max_ranges separate ranges.
    // If it throws std::bad_alloc, nothing was added.
    bool add(uint64_t begin, uint64_t bytes) {
        if (bytes == 0) return true;
        const uint64_t end = begin + bytes;
        const auto next = ranges_.lower_bound(begin);
        if (next != ranges_.end() && next->first < end) return false;
        const auto before = next == ranges_.begin() ? ranges_.end() : std::prev(next);
        if (before != ranges_.end() && before->second > begin) return false;
        const bool joins_next = next != ranges_.end() && next->first == end;
        if (before != ranges_.end() && before->second == begin) {
            before->second = joins_next ? next->second : end;
            if (joins_next) ranges_.erase(next);
        } else if (joins_next) {
            auto joined = ranges_.extract(next); // reuses the node, so that nothing is allocated
            joined.key() = begin;
            ranges_.insert(std::move(joined));
        } else if (ranges_.size() >= max_ranges) {
            return false;
        } else {
            ranges_.emplace_hint(next, begin, end);
        }
        total_ += bytes;
        return true;
    }
    uint64_t total() const { return total_; } // the number of bytes added
    // The memory that the ranges use.
    uint64_t memory() const { return ranges_.size() * bytes_of_range; }
    static constexpr uint64_t bytes_of_range = 64;

private:
    std::map<uint64_t, uint64_t> ranges_; // maps begin to end; adjacent ranges are joined
    uint64_t total_ = 0;
};

} // namespace ucd_ucx
