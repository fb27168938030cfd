// Words of one or two bytes, which are taken from a vector or put into one by fours.
#pragma once

#include "kernels/words.h"

namespace ucd::UCD_GPU {

// Four narrow words, as registers of a vector hold them.
template <unsigned width>
union FourWords {
    uint32_t whole[width];
    Word<width> word[4];
};

// Removes the first four words of a vector and returns them. The other words move up, and `last` is
// appended.
template <unsigned width>
UCD_GPU_FUNCTION FourWords<width> shift(Quad &vector, const FourWords<width> &last) {
    static_assert(width == 1 || width == 2);
    FourWords<width> first;
    first.whole[0] = vector.x;
    if constexpr (width == 1) {
        vector.x = vector.y, vector.y = vector.z, vector.z = vector.w;
    } else {
        first.whole[1] = vector.y;
        vector.x = vector.z, vector.y = vector.w, vector.z = last.whole[0];
    }
    vector.w = last.whole[width - 1];
    return first;
}

} // namespace ucd::UCD_GPU
