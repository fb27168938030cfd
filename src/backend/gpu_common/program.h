// Any layout as the device sees it: its nodes and lists in one piece of memory, walked from the root
// for every run of bytes. For what is too deep, too mixed or too large for a nest; 64 bits throughout.
#pragma once

#include "direction.h"
#include "divisor.h"
#include "words.h"

#include <cstdint>

namespace ucd::UCD_GPU {

struct ProgramNode {
    enum Kind : uint32_t { block, strided, indexed, runs, sequence };
    uint32_t kind;    // a Kind
    uint32_t child;   // but of sequences
    uint32_t granule; // runs, sequence: see `starts`
    uint32_t element; // block, in the packed stream of a reduction: an Element
    WideDivisor each; // packed bytes of a child
    uint64_t bytes;   // block
    uint64_t stride;  // strided, runs; wraps if negative
    // Offsets of lists from the image's start.
    uint64_t displacements; // 64-bit entries
    uint64_t first;         // runs: children before each; sequence: bytes before each
    uint64_t starts;        // the entry of every 2^granule-th child (runs) or byte (sequence)
    uint64_t children;      // sequence
};

// Where a program is.
struct ProgramRef {
    const char *image; // nodes and their lists
    uint64_t nodes;    // their offset
    uint32_t root;
};

struct ProgramParams : ProgramRef {
    uint32_t width; // of the words that all of it is a multiple of
    uintptr_t laid_out;
    uintptr_t packed;  // the aligned vector that holds the first byte
    uint64_t vectors;  // that hold a byte of the range
    uint64_t position; // the stream byte that vector 0 starts with; wraps if it would be negative
    uint32_t head, tail;
};

} // namespace ucd::UCD_GPU
