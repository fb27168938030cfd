// Divides the range of a move among its threads.
#pragma once

#include "element_runs.h"
#include "move.h"
#include "plan.h"

#include <algorithm>
#include <cstdint>

namespace ucd::seq {

// The byte of the stream at which share `i` of `shares` begins; for i == shares, the end. Shares
// are equal except that elements are not divided.
inline uint64_t share_begin(const Move &move, unsigned i, unsigned shares) {
    const Side &side = move.typed();
    if (i == 0) return side.offset;
    if (i == shares) return side.offset + move.length;
    // Shares begin at multiples of a cache line's size where the element allows it.
    uint64_t position = side.offset + move.length / shares * i / 64 * 64;
    if (move.op != Op::replace) {
        const uint64_t total = plan_of(side).size * side.count;
        position = element_floor(*move.elements, side.count, total, position);
    }
    return std::max(position, side.offset);
}

} // namespace ucd::seq
