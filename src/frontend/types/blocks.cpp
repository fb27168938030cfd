#include "types/blocks.h"

#include "host_functions.h"
#include "support/list_memory.h"

#include <algorithm>
#include <bit>

namespace ucd {
namespace {

// Number of entries that stay in the L1 cache between two passes over them.
constexpr std::size_t in_l1 = 1024;

// The number's magnitude has at most as many bits as the result.
uint64_t magnitude_bits(int64_t n) {
    return static_cast<uint64_t>(n ^ (n >> 63));
}

// The range of the origins of the blocks' children. Sum is wide enough for all intermediate
// results.
template <class Sum>
Interval<Sum> reach_of(const BlocksOfOwnLength &b) {
    Interval<Sum> reach;
    for (std::size_t i = 0; i < b.displs.size(); ++i) {
        if (b.lengths[i] == 0) continue;
        const Sum first = static_cast<Sum>(b.displs[i]) * b.unit;
        const Sum last = first + static_cast<Sum>(b.lengths[i] - 1) * b.stride;
        reach.include(std::min(first, last), std::max(first, last));
    }
    return reach;
}

} // namespace

SeenList displacements_of(std::span<const int64_t> given, int64_t unit) {
    SeenList seen;
    std::vector<int64_t> &displs = seen.displs;
    displs = take_used_list<int64_t>(given.size());
    if (given.empty()) return seen;
    seen.least = seen.most = given[0];
    // New entries of a vector are set to 0, in parts that stay in the first-level cache until they
    // are overwritten.
    constexpr std::size_t at_once = 256;
    for (std::size_t begin = 0; begin < given.size(); begin += at_once) {
        const auto some = given.subspan(begin, std::min(at_once, given.size() - begin));
        if (displs.size() < begin + some.size()) displs.resize(begin + some.size());
        const CopiedList part_of = copy_list(some, given[0], unit, &displs[begin]);
        seen.least = std::min(seen.least, part_of.reach.least);
        seen.most = std::max(seen.most, part_of.reach.most);
        seen.bits |= part_of.bits;
    }
    return seen;
}

std::vector<uint64_t> sums_of(std::span<const int64_t> lengths) {
    std::vector<uint64_t> sums = take_used_list<uint64_t>(lengths.size() + 1);
    constexpr std::size_t at_once = 256;
    uint64_t sum = 0;
    for (std::size_t begin = 0; begin < lengths.size(); begin += at_once) {
        const std::size_t end = std::min(begin + at_once, lengths.size());
        if (sums.size() < end) sums.resize(end);
        const auto length = [&](std::size_t i) { return static_cast<uint64_t>(lengths[i]); };
        std::size_t i = begin;
        // Four at a time, so that an addition does not wait for each one before.
        for (; i + 4 <= end; i += 4) {
            const uint64_t two = length(i) + length(i + 1), three = two + length(i + 2);
            sums[i] = sum;
            sums[i + 1] = sum + length(i);
            sums[i + 2] = sum + two;
            sums[i + 3] = sum + three;
            sum += three + length(i + 3);
        }
        for (; i < end; ++i) {
            sums[i] = sum;
            sum += length(i);
        }
    }
    sums.resize(lengths.size() + 1);
    sums.back() = sum;
    return sums;
}

bool BlocksOfOwnLength::add_to(Bounds &bounds, const Type &child, BlockLengths &lengths_too) const {
    constexpr int max_bits = 61, max_summed_bits = 50;
    const int step_bits =
        static_cast<int>(std::bit_width(magnitude_bits(unit) | magnitude_bits(stride)));
    Interval<int128> all;
    uint128 children = 0;
    for (std::size_t begin = 0; begin < displs.size(); begin += in_l1) {
        const std::size_t size = std::min(in_l1, displs.size() - begin);
        const BlocksOfOwnLength some{displs.subspan(begin, size), lengths.subspan(begin, size),
                                     unit, stride};
        const BlocksLook look = look_at_blocks(some.displs, some.lengths.data());
        if (look.shortest < 0) return false;
        lengths_too.add(look.shortest, look.longest);
        // 64-bit arithmetic is enough for most lists, and several times as fast as 128-bit.
        const int bits_each =
            static_cast<int>(std::bit_width(look.displ_bits | static_cast<uint64_t>(look.longest)));
        if (bits_each + step_bits <= max_bits && bits_each <= max_summed_bits) {
            children += look.lengths;
            Interval<int64_t> reach;
            if (unit == stride && look.shortest > 0)
                reach.include(std::min(look.reach.least * unit, look.reach.most * unit),
                              std::max(look.reach.least * unit, look.reach.most * unit));
            else
                reach = reach_of<int64_t>(some);
            if (reach.any) all.include(reach.low, reach.high);
            continue;
        }
        for (const int64_t length : some.lengths) children += static_cast<uint64_t>(length);
        const Interval<int128> reach = reach_of<int128>(some);
        if (reach.any) all.include(reach.low, reach.high);
    }
    bounds.add_range(all.low, all.high, children, child);
    return true;
}

} // namespace ucd
