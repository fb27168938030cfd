// Finds the entry of a list that holds a position. All kernels that search lists use it; code of
// the host has contract/entry_holding.h.
#pragma once

#include "kernels/words.h"

namespace ucd::UCD_GPU {

// The last of the entries [low, high] that starts at `position` or before. The first one does;
// start(list..., entry) is where an entry of the list starts. A list of the entries at every
// 2^granule-th position keeps the range short. `start` is no object with captures, which modules
// that inline little would keep in memory.
template <auto start, class Position, class... List>
UCD_GPU_INLINED_FUNCTION Position entry_holding(Position position, Position low, Position high,
                                                List... list) {
    while (low < high) {
        const Position middle = (low + high + 1) / 2;
        if (start(list..., middle) <= position)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

} // namespace ucd::UCD_GPU
