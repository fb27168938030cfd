#include "types/blocks.h"

#include "support/list_memory.h"

#include <algorithm>
#include <array>
#include <bit>

namespace ucd {
namespace {

// A number's magnitude has no more bits than this value.
uint64_t magnitude_bits(int64_t n) {
    return static_cast<uint64_t>(n ^ (n >> 63));
}

// Where the children of some blocks are. Sum has room for all that is computed.
template <class Sum>
struct Reach {
    Sum low = 0, high = 0;
    bool any = false;

    void add(Sum first, Sum last) {
        const Sum from = std::min(first, last), to = std::max(first, last);
        low = any ? std::min(low, from) : from;
        high = any ? std::max(high, to) : to;
        any = true;
    }
};

template <class Sum>
Reach<Sum> reach_of(const BlocksOfOwnLength &b) {
    Reach<Sum> reach;
    for (std::size_t i = 0; i < b.displs.size(); ++i) {
        if (b.lengths[i] == 0) continue;
        const Sum first = static_cast<Sum>(b.displs[i]) * b.unit;
        reach.add(first, first + static_cast<Sum>(b.lengths[i] - 1) * b.stride);
    }
    return reach;
}

// The same of blocks in steps of their children, none of which is empty.
Reach<int64_t> reach_in_extents(const BlocksOfOwnLength &b) {
    int64_t low = b.displs[0], high = b.displs[0];
    for (std::size_t i = 0; i < b.displs.size(); ++i) {
        low = std::min(low, b.displs[i]);
        high = std::max(high, b.displs[i] + b.lengths[i] - 1);
    }
    Reach<int64_t> reach;
    reach.add(low * b.unit, high * b.unit);
    return reach;
}

} // namespace

std::vector<int64_t> copy_with_extremes(std::span<const int64_t> list, int64_t &least,
                                        int64_t &most) {
    std::vector<int64_t> copy = take_list<int64_t>(list.size());
    if (list.empty()) return copy;
    // Several at once: each comparison waits for the one before.
    constexpr std::size_t lanes = 4, part = 1024;
    std::array<int64_t, lanes> low, high;
    low.fill(list[0]);
    high.fill(list[0]);
    const auto take = [&](std::size_t lane, int64_t entry) {
        low[lane] = std::min(low[lane], entry);
        high[lane] = std::max(high[lane], entry);
    };
    for (std::size_t begin = 0; begin < list.size(); begin += part) {
        const auto some = list.subspan(begin, std::min(part, list.size() - begin));
        copy.insert(copy.end(), some.begin(), some.end());
        std::size_t i = 0;
        for (; i + lanes <= some.size(); i += lanes)
            for (std::size_t lane = 0; lane < lanes; ++lane) take(lane, some[i + lane]);
        for (; i < some.size(); ++i) take(0, some[i]);
    }
    least = *std::min_element(low.begin(), low.end());
    most = *std::max_element(high.begin(), high.end());
    return copy;
}

bool BlocksOfOwnLength::has_negative_length() const {
    int64_t signs = 0;
    for (const int64_t length : lengths) signs |= length;
    return signs < 0;
}

void BlocksOfOwnLength::add_to(Bounds &bounds, const Type &child) const {
    // In parts that stay in a cache between the looks at them.
    constexpr std::size_t part = 1024;
    constexpr int max_bits = 61, max_summed_bits = 50;
    const int step_bits = std::bit_width(magnitude_bits(unit) | magnitude_bits(stride));
    Reach<int128> all;
    uint128 children = 0;
    for (std::size_t begin = 0; begin < displs.size(); begin += part) {
        const std::size_t size = std::min(part, displs.size() - begin);
        const BlocksOfOwnLength some{displs.subspan(begin, size), lengths.subspan(begin, size),
                                     unit, stride};
        uint64_t bits = 0, sum = 0, empty = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const auto length = static_cast<uint64_t>(some.lengths[i]);
            bits |= magnitude_bits(some.displs[i]) | length;
            sum += length;
            empty |= length - 1; // the sign
        }
        // 64 bits are enough for most, and several times as fast.
        const int bits_each = std::bit_width(bits);
        if (bits_each + step_bits <= max_bits && bits_each <= max_summed_bits) {
            children += sum;
            const bool simple = unit == stride && static_cast<int64_t>(empty) >= 0;
            const Reach<int64_t> reach = simple ? reach_in_extents(some) : reach_of<int64_t>(some);
            if (reach.any) all.add(reach.low, reach.high);
            continue;
        }
        for (const int64_t length : some.lengths) children += static_cast<uint64_t>(length);
        const Reach<int128> reach = reach_of<int128>(some);
        if (reach.any) all.add(reach.low, reach.high);
    }
    bounds.add_range(all.low, all.high, children, child);
}

} // namespace ucd
