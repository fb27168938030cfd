// Unpacking of odd blocks, such as structs with a char at the end: in the stream they lie anywhere, but
// in memory they are aligned. So each thread gives out a piece that is one aligned store, whose bytes it
// picks from the stream. (Packing has no such need: neighbouring threads load from the same lines, and
// stores are whole vectors.)
#pragma once

#include "divisor.h"
#include "nest.h"
#include "words.h"

#include <cstdint>

namespace ucd::UCD_GPU {

inline constexpr unsigned piece_bytes = 8; // at most, and how origins are aligned

struct StorePiece {
    int32_t displacement; // from the period's origin
    uint32_t position;    // in the period's stream; times 16, plus the bytes
};

struct PiecesParams {
    const StorePiece *list;
    uintptr_t laid_out;
    uintptr_t packed;    // where stream byte 0 would be
    uint64_t begin, end; // the range of the stream
    uint32_t first;      // the period that the range starts in
    uint32_t count;      // pieces of all periods that the range touches
    Divisor pieces;      // of a period
    uint32_t period;     // bytes of the stream
    uint32_t levels;
    NestLevel level[max_levels]; // strided, around the period; `each` counts periods, steps 8 bytes
};

} // namespace ucd::UCD_GPU
