// Where the parts of messages lie in memory, for all peers of a rank. Nothing here knows Python.
#pragma once

#include <cstdint>
#include <vector>

namespace ucd_models {

// A share of an array for each of `count` peers, whose ranks are `step` apart.
struct Fan {
    int64_t rank, step, count, nbytes;
};

// Shares of a fan: number k, and the others each `stride` numbers after the one before. The first is
// at byte `position`, and the others `step` bytes after each other.
struct Stretch {
    int64_t k, count, stride, position, step;
};

struct Layout {
    std::vector<int64_t> peers;               // in ascending order
    std::vector<int64_t> begins;              // of each peer's message, and the end of the last
    std::vector<std::vector<Stretch>> shares; // of each fan
};

// Puts the messages of peers one after the other, and into each the shares of the fans in their
// order.
Layout layout_of(const std::vector<Fan> &fans);

} // namespace ucd_models
