// yaksa's rule for the bounds of a type: they reach from the smallest lower to the largest upper
// bound of its elements. Unlike in MPI, explicit bounds do not hide implicit ones, and no epsilon
// is added.
#pragma once

#include "type.h"

#include <cstdint>

namespace ucd_yaksa {

__extension__ using int128 = __int128;

class Bounds {
public:
    // Adds `blocklength` elements, the first at byte `at`. No elements change nothing.
    void add_block(int128 at, std::intptr_t blocklength, const Type &old);
    // Rounds the extent up to a multiple of the alignment.
    void align(std::intptr_t alignment);

    std::intptr_t lb() const { return static_cast<std::intptr_t>(low_); }
    std::intptr_t extent() const { return static_cast<std::intptr_t>(high_ - low_); }
    // Fails if they are too large for ucd.h.
    int check() const;

private:
    bool any_ = false;
    int128 low_ = 0, high_ = 0;
};

} // namespace ucd_yaksa
