// A part of a move, and its addresses.
#pragma once

#include "move.h"
#include "plan.h"

namespace ucd::seq {

// A range of a move's packed stream.
struct Range {
    uint64_t offset, length;
};

inline const SeqPlan &plan_of(const Move &move) {
    return static_cast<const SeqPlan &>(*move.plan);
}

inline char *at(char *address, int64_t displacement) {
    return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(address) +
                                    static_cast<uintptr_t>(displacement));
}

} // namespace ucd::seq
