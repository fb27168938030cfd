// Any layout as the device sees it: its nodes and lists in one piece of memory, walked from the
// root for every run of bytes. For what is too deep, too mixed or too large for a nest; 64 bits
// throughout.
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

// What indices are.
enum {
    index_int32,
    index_uint32,
    index_64_bits,
};

typedef struct InterpreterNode {
    uint32_t kind;
    uint32_t child;   // but of structures
    uint32_t granule; // indexed, structure: see `starts`; by_reference: an index_*
    uint32_t element; // block, in the packed stream of a reduction: an Element
    WideDivisor each; // packed bytes of a child
    uint64_t bytes;   // block
    uint64_t stride;  // strided, indexed; wraps if negative; by_reference: the unit
    // Offsets of lists from the start of the lists.
    uint64_t displacements; // 64-bit entries; by_reference: the address of the indices
    uint64_t first;         // indexed: children before each; structure: bytes before each
    uint64_t starts;        // the entry of every 2^granule-th child (indexed) or byte (structure)
    uint64_t children;      // structure
} InterpreterNode;

// A layout at its place.
typedef struct InterpretedLayout {
    uint64_t lists; // the address of its nodes and their lists
    uint64_t nodes; // the nodes' offset from there
    uint64_t typed; // where the origin of the layout is
    uint32_t root;
    uint32_t unused;
} InterpretedLayout;

typedef struct InterpreterParams {
    InterpretedLayout layout;
    uint64_t packed;   // the aligned vector that holds the first byte
    uint64_t vectors;  // that hold a byte of the range
    uint64_t position; // the stream byte that vector 0 starts with; wraps if it would be negative
    uint32_t head, tail;
    uint32_t width; // of the words that all of it is a multiple of
    uint32_t unused;
} InterpreterParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
