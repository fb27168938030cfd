// How the threads of one move divide its range.
#pragma once

#include "element_runs.h"
#include "move.h"
#include "range.h"

#include <algorithm>
#include <cstdint>

namespace ucd::seq {

// The byte of the stream that share `i` of `shares` begins with; share `shares` is the end. Equal
// shares, cut where elements end.
inline uint64_t share_begin(const Move &move, unsigned i, unsigned shares) {
    if (i == 0) return move.offset;
    if (i == shares) return move.offset + move.length;
    // Shares meet on cache lines of the packed side where the element allows it.
    uint64_t position = move.offset + move.length / shares * i / 64 * 64;
    if (move.op != Op::replace) {
        const uint64_t total = plan_of(move).size * move.count;
        position = element_floor(*move.elements, move.count, total, position);
    }
    return std::max(position, move.offset);
}

} // namespace ucd::seq
