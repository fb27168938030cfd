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

// The unit in which displacements from `low` to `high` fit 32 bits, or 0 if there is none. It is
// the largest power of two that divides all of them, which is a multiple of every word of the
// layout: the lowest bit of `bits`, in which each of them has its lowest bit.
inline uint32_t unit_within(uint64_t bits, int64_t low, int64_t high) {
    bits |= uint64_t{1} << 16;
    const uint64_t unit = bits & (~bits + 1);
    const auto steps = static_cast<int64_t>(unit);
    return low / steps >= INT32_MIN && high / steps <= INT32_MAX ? static_cast<uint32_t>(unit) : 0;
}

// Writes displacements as kernels read them: in 32 bits, which count such units, or if `unit` is 0,
// in bytes with 64 bits.
inline void write_displacements(Span<const int64_t> displs, uint32_t unit, char *to) {
    if (unit == 0) {
        __builtin_memcpy(to, displs.data(), displs.size() * sizeof(int64_t));
        return;
    }
    // All displacements are multiples of the unit, which is a power of two.
    const int shift = std::countr_zero(unit);
    auto *const __restrict narrow = reinterpret_cast<int32_t *>(to);
    for (std::size_t i = 0; i < displs.size(); ++i)
        narrow[i] = static_cast<int32_t>(displs[i] >> shift);
}

inline uint32_t unit_for(Span<const int64_t> displacements) {
    uint64_t bits = 0;
    int64_t low = 0, high = 0;
    for (const int64_t d : displacements) {
        bits |= static_cast<uint64_t>(d);
        low = std::min(low, d);
        high = std::max(high, d);
    }
    return unit_within(bits, low, high);
}

} // namespace ucd::gpu
