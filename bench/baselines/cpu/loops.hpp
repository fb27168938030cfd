// The loops of a CPU for one layout each, with its numbers as constants.
#pragma once

#include "baselines/hand.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <sys/uio.h>

namespace bench {

// A part of a packed stream: it starts `skip` bytes into a block or run.
struct Piece {
    std::int64_t first, skip, bytes;
};

using PieceLoop = void (*)(const Lists &lists, const Piece &piece, char *typed, char *packed);
using SegmentLoop = void (*)(const Lists &lists, char *typed, iovec *segments);

// What the same person would write to move parts of it, and to list its segments.
struct HandPieces {
    PieceLoop pack, unpack;
    SegmentLoop list;
};

namespace hand {

// Of the layout with this name: one of the layouts that are moved as a whole, or that applications
// send. Throw std::logic_error if there is none.
std::span<const HandMove> loops_for(std::string_view layout);
std::span<const HandMove> app_loops_for(std::string_view layout);
// Of the large layout with this name.
HandPieces pieces_of(std::string_view layout);

} // namespace hand
} // namespace bench
