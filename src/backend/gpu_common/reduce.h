// What the kernels that reduce work on: destination = destination op source, element by element,
// one of which is laid out and the other packed.
#pragma once

#include "element.h"
#include "nest.h"
#include "program.h"

#include <cstdint>

namespace ucd::UCD_GPU {

// What a thread takes.
enum class ReduceBy : uint8_t {
    vectors,  // 16 bytes on both sides
    elements, // one element
};

// Elements of one kind in up to three levels. Words have 2^shift bytes: a vector or an element, or
// of elements of 16 bytes a part.
struct ReduceParams {
    NestParams nest; // but for what says how tiles are moved; `vectors` may be elements
    LevelKind kinds[max_levels];
    uint8_t levels; // 0: consecutive
    bool strided;   // one level of that kind
    uint8_t shift;
    ReduceBy by;
    Direction direction;
};

// What the op does with a kind of element.
struct ReduceKind {
    uint8_t number; // see ReduceKernel
    uint8_t size;
};

// Elements of any kinds, anywhere, in any layout.
struct ReduceAnyParams {
    ProgramRef layout;   // without an image: consecutive bytes
    ProgramRef elements; // over the packed stream, whose blocks are of elements; without an image:
    Element element;     // the kind of all
    Direction direction;
    ReduceKind kinds[static_cast<unsigned>(Element::count_)];
    uint32_t width; // of the words that all of it is a multiple of, but for elements
    uintptr_t laid_out;
    uintptr_t packed;  // the aligned vector that holds the first byte
    uint64_t vectors;  // that hold a byte of the range
    uint64_t position; // the stream byte that vector 0 starts with; wraps if it would be negative
    uint32_t head, tail;
};

// Of a batch: threads_per_block threads of a member.
struct ReduceTile {
    uint32_t member, number;
};

} // namespace ucd::UCD_GPU
