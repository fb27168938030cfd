// What the kernels that reduce work on: destination = destination op source, element by element.
// One of the two is typed, the other packed.
#pragma once

#include "params/interpreter.h"
#include "params/nest.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

UCD_GPU_CONSTANT(element_count, 35);

#ifdef __cplusplus
static_assert(element_count == static_cast<uint32_t>(Element::count_));

// What a thread takes.
enum class ReduceBy : uint8_t {
    vectors,  // 16 bytes on both sides
    elements, // one element
};
#else
typedef uint8_t ReduceBy;
#endif

// Elements of one kind in up to three levels. Words have 2^shift bytes: a vector or an element, or
// of elements of 16 bytes a part.
typedef struct ReduceParams {
    NestParams nest; // but for what says how tiles are moved; `vectors` may be elements
    LevelKind kinds[max_levels];
    uint8_t levels;  // 0: consecutive
    uint8_t strided; // one level of that kind
    uint8_t shift;
    ReduceBy by;
    Direction direction;
} ReduceParams;

// What the op does with a kind of element.
typedef struct ReduceKind {
    uint8_t number; // see ReduceKernel
    uint8_t size;
} ReduceKind;

// Elements of any kinds, anywhere, in any layout.
typedef struct ReduceAnyParams {
    InterpretedLayout layout;   // without lists: consecutive bytes
    InterpretedLayout elements; // over the packed stream, whose blocks are of elements; without
    Element element;            // lists: the kind of all
    Direction direction;
    ReduceKind kinds[element_count];
    uint32_t width;    // of the words that all of it is a multiple of, but for elements
    uint64_t packed;   // the aligned vector that holds the first byte
    uint64_t vectors;  // that hold a byte of the range
    uint64_t position; // the stream byte that vector 0 starts with; wraps if it would be negative
    uint32_t head, tail;
} ReduceAnyParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
