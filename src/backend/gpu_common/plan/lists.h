// Lists in the form that kernels need.
#pragma once

#include "span.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace ucd::gpu {

// Lists of starts that are longer are not made for speed alone.
inline constexpr uint64_t max_starts = uint64_t{1} << 20;

// The start points of a search in `first` (prefix sums, with an additional entry for the end): the
// entry that contains position i << granule, for each i, and an additional one for the end.
template <class First>
std::size_t starts_needed(const First &first, uint32_t granule) {
    const uint64_t end = first[first.size() - 1];
    return ((end + (uint64_t{1} << granule) - 1) >> granule) + 2;
}

template <class First>
void fill_starts(const First &first, uint32_t granule, uint32_t *starts) {
    const uint64_t end = first[first.size() - 1];
    uint32_t entry = 0;
    for (uint64_t position = 0; position < end; position += uint64_t{1} << granule) {
        while (first[entry + 1] <= position) ++entry;
        *starts++ = entry;
    }
    const auto last = static_cast<uint32_t>(first.size() - 2);
    starts[0] = starts[1] = last;
}

template <class First>
std::vector<uint32_t> starts_of(const First &first, uint32_t granule) {
    std::vector<uint32_t> starts(starts_needed(first, granule));
    fill_starts(first, granule, starts.data());
    return starts;
}

// With about two entries in each granule, a search takes a step or two. Granules are small if
// entries are long, so that most searches take no step.
inline uint32_t granule_for(uint64_t positions, uint64_t entries) {
    constexpr uint32_t small = 6;
    const uint64_t two = std::max<uint64_t>(2 * positions / entries, 1);
    const auto granule = static_cast<uint32_t>(std::bit_width(two) - 1);
    return positions >> small <= max_starts ? std::min(granule, small) : granule;
}

// The unit in which all displacements fit 32 bits, or 0 if there is none.
inline uint32_t unit_for(Span<const int64_t> displacements) {
    // The largest power of two that divides all displacements, which is a multiple of every word of
    // the layout. It is the lowest set bit, which is the same for both signs of a number.
    constexpr uint64_t most = uint64_t{1} << 16;
    uint64_t bits = most;
    int64_t low = 0, high = 0;
    for (const int64_t d : displacements) {
        bits |= static_cast<uint64_t>(d);
        low = std::min(low, d);
        high = std::max(high, d);
    }
    const uint64_t unit = bits & (~bits + 1);
    const auto steps = static_cast<int64_t>(unit);
    return low / steps >= INT32_MIN && high / steps <= INT32_MAX ? static_cast<uint32_t>(unit) : 0;
}

} // namespace ucd::gpu
