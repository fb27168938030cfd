// Finds the entry of a list that holds a position. All code of the host that searches lists uses
// it; the kernels of devices have kernels/entry_holding.h.
#pragma once

#include "span.h"

#include <cstdint>

namespace ucd {

// The last of `entries` entries, which are in order, that starts at `position` or before. The first
// one does; start(i) is where entry i starts.
template <class Start>
uint64_t entry_holding(uint64_t entries, uint64_t position, const Start &start) {
    uint64_t low = 0, high = entries - 1; // the entry is one of [low, high]
    while (low < high) {
        const uint64_t middle = high - (high - low) / 2;
        if (start(middle) <= position)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// The index i of a prefix-sum table with first[i] <= position < first[i + 1].
inline uint64_t entry_holding(Span<const uint64_t> first, uint64_t position) {
    return entry_holding(first.size(), position, [first](uint64_t i) { return first[i]; });
}

} // namespace ucd
