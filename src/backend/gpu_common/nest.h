// What the generated kernels work on: up to three levels around blocks of bytes, given by value with
// the launch. Positions are counted in words of the kernel's width and fit 31 bits; what does not is
// moved by the program kernel.
//
// Every level knows only the packed size of one child, which finds the child; how many there are does
// not matter, since no position lies beyond the end.
#pragma once

#include "direction.h"
#include "divisor.h"
#include "words.h"

#include <cstdint>

namespace ucd::UCD_GPU {

inline constexpr unsigned max_levels = 3;

enum class LevelKind : uint8_t {
    strided, // child i lies at i * stride
    uniform, // child i lies at displacement i of a list
    varying, // runs of children, child i of a run at i * stride from the run's displacement
};

struct NestLevel {
    Divisor each;   // words of one child
    int32_t stride; // in words, so that a product takes one instruction
};

// What levels with lists have besides.
struct NestList {
    const void *displacements;  // u: by child; v: by run
    const uint32_t *first;      // v: children before each run, and a last entry beyond all
    const uint32_t *starts;     // v: the run of each 2^granule-th child, so that no search is long
    uint32_t displacement_unit; // of entries with 32 bits, in words; 0: they are bytes in 64 bits
    uint32_t granule;
};

// What every thread reads comes first: it is fetched anew for each launch, line by line.
struct NestParams {
    uintptr_t laid_out;  // where the first byte of the stream's origin lies
    uintptr_t packed;    // the aligned vector that holds the first byte
    uint32_t vectors;    // that hold a byte of the range
    uint32_t first_word; // the stream word that vector 0 starts with; wraps if it would be negative
    uint32_t head;       // bytes of vector 0 before the range
    uint32_t tail;       // bytes of the last vector up to the end of the range
    uint32_t tiles;
    uint32_t per_thread; // vectors that each thread moves of a tile: 1, or most_per_thread
    uint32_t dense;      // one level of runs whose children touch
    uint32_t neighbours; // words narrower than a vector are unpacked by neighbouring threads
    NestLevel level[max_levels];
    NestList list[max_levels];
};

// Several vectors are in flight per thread where that pays: such of one word each, and such whose
// two words are mostly in one run of a list.
template <unsigned width, unsigned levels>
inline constexpr unsigned most_per_thread =
    width == vector_bytes || (width == vector_bytes / 2 && levels == 1) ? 2 : 1;

} // namespace ucd::UCD_GPU
