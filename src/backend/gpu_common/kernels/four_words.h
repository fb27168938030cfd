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

// Moves a whole vector of narrow words, of which `first` is the first, four at a time.
// find(word, places) finds the addresses of a word and the next three.
template <Direction direction, unsigned width, class Find>
UCD_GPU_FUNCTION void move_fours(uintptr_t packed, uint32_t first, Find find) {
    Quad whole{};
    if constexpr (direction == Direction::unpack) whole = load<Quad>(packed);
#pragma unroll 1
    for (uint32_t word = first; word != first + vector_bytes / width; word += 4) {
        uintptr_t places[4];
        find(word, places);
        FourWords<width> four{};
        if constexpr (direction == Direction::pack) {
#pragma unroll
            for (unsigned k = 0; k < 4; ++k) four.word[k] = load<Word<width>>(places[k]);
            shift(whole, four);
        } else {
            four = shift(whole, four);
#pragma unroll
            for (unsigned k = 0; k < 4; ++k) store<Word<width>>(places[k], four.word[k]);
        }
    }
    if constexpr (direction == Direction::pack) store<Quad>(packed, whole);
}

} // namespace ucd::UCD_GPU
