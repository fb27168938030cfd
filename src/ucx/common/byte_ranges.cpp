#include "common/byte_ranges.h"

#include <iterator>
#include <utility>

namespace ucd_ucx {

bool ByteRanges::add(uint64_t begin, uint64_t bytes) {
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

} // namespace ucd_ucx
