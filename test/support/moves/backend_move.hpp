// Moves as backends get them.
#pragma once

#include "move.h"

#include <cstdint>
#include <utility>

namespace ucdtest {

// Between a layout at `typed` and packed bytes at `packed`.
inline ucd::Move move_of(const ucd::KernelPlan &plan, char *typed, char *packed,
                         std::uint64_t length, ucd::Direction direction = ucd::Direction::pack,
                         std::uint64_t count = 1, std::uint64_t offset = 0) {
    ucd::Move move;
    move.from = {&plan, typed, count, offset};
    move.to.address = packed;
    move.length = length;
    if (direction == ucd::Direction::unpack) std::swap(move.from, move.to);
    return move;
}

inline ucd::Move copy_of(const ucd::Side &from, const ucd::Side &to, std::uint64_t length) {
    ucd::Move move;
    move.from = from;
    move.to = to;
    move.length = length;
    return move;
}

// The sides of a pack or an unpack.
inline ucd::Side &typed_of(ucd::Move &move) {
    return move.from.plan != nullptr ? move.from : move.to;
}
inline ucd::Side &packed_of(ucd::Move &move) {
    return move.from.plan != nullptr ? move.to : move.from;
}

} // namespace ucdtest
