// Layouts for the interpreter: nodes and lists in one piece of memory, which are walked from the
// root for each run of bytes. Used for what is too deep, too mixed or too large for a nest; all
// numbers have 64 bits.
#pragma once

#include "params/divisor.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

// The kinds of nodes.
enum {
    interpreter_block,
    interpreter_strided,
    interpreter_indexed_block,
    interpreter_indexed,
    interpreter_structure,
    interpreter_by_reference,
};

// The types of a caller's indices.
enum {
    index_int32,
    index_uint32,
    index_64_bits,
};

typedef struct InterpreterNode {
    uint32_t kind;
    uint32_t child;   // not for structures
    uint32_t granule; // indexed, structure: see `starts`; by_reference: index_*
    uint32_t element; // block in the packed stream of a reduction: Element
    WideDivisor each; // packed bytes of a child
    uint64_t bytes;   // block
    uint64_t stride;  // strided, indexed; wraps if negative; by_reference: the unit
    // The offsets of lists from the start of the lists.
    uint64_t displacements; // 64-bit entries; by_reference: the address of the indices
    uint64_t first;         // indexed: children before each; structure: bytes before each
    uint64_t starts;        // the entry of every 2^granule-th child (indexed) or byte (structure)
    uint64_t children;      // structure
} InterpreterNode;

// A layout and the addresses that belong to it.
typedef struct InterpretedLayout {
    uint64_t lists; // address of its nodes and their lists
    uint64_t nodes; // offset of the nodes from there
    uint64_t typed; // address of the layout's origin
    uint32_t root;
    uint32_t unused;
} InterpretedLayout;

typedef struct InterpreterParams {
    InterpretedLayout layout;
    uint64_t packed;   // address of the aligned vector with the first byte
    uint64_t vectors;  // number of vectors that contain bytes of the range
    uint64_t position; // stream position of vector 0; wraps if negative
    uint32_t head, tail;
    uint32_t width; // of words of which everything is a multiple
    uint32_t unused;
} InterpreterParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
