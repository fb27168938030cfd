// Parameters of the reduction kernels: destination = destination op source for each element. One of
// the two is typed, the other packed.
#pragma once

#include "params/interpreter.h"
#include "params/nest.h"

#ifdef __cplusplus
#include "element.h"
#endif

#ifdef __cplusplus
namespace ucd::gpu {
#endif

UCD_GPU_CONSTANT(element_count, 35);

#ifdef __cplusplus
static_assert(element_count == static_cast<uint32_t>(Element::count_));

// The work of one thread.
enum class ReduceBy : uint8_t {
    vectors,  // 16 bytes on both sides
    elements, // one element
};
#else
typedef uint8_t ReduceBy;
#endif

// For elements of one kind in up to three levels. Words have 2^shift bytes: a vector, an element,
// or a part of an element of 16 bytes.
typedef struct ReduceParams {
    NestParams nest; // without the members for tiles; `vectors` may count elements
    LevelKind kinds[max_levels];
    uint8_t levels; // 0 if the elements are contiguous
    uint8_t shift;
    ReduceBy by;
    Direction direction;
} ReduceParams;

// How the op treats a kind of element.
typedef struct ReduceKind {
    uint8_t number; // see ReduceKernel
    uint8_t size;
} ReduceKind;

// For elements of any kinds, at any addresses, in any layout.
typedef struct ReduceAnyParams {
    InterpretedLayout layout;   // contiguous bytes if it has no lists
    InterpretedLayout elements; // of the packed stream; its blocks have elements
    Element element;            // of the whole stream, if `elements` has no lists
    Direction direction;
    ReduceKind kinds[element_count];
    uint32_t width;    // of words of which all but the elements is a multiple
    uint64_t packed;   // address of the aligned vector with the first byte
    uint64_t vectors;  // number of vectors that contain bytes of the range
    uint64_t position; // stream position of vector 0; wraps if negative
    uint32_t head, tail;
} ReduceAnyParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
