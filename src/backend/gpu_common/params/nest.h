// Parameters of the generated kernels: up to three levels around blocks of bytes, passed by value
// with the launch. Positions are in words of the kernel's width and fit 31 bits. What does not fit
// is moved by the interpreter.
//
// Each level has the packed size of one child, which suffices to find the child. The number of
// children is not needed, because no position lies beyond the end.
#pragma once

#include "params/divisor.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

UCD_GPU_CONSTANT(max_levels, 3);

#ifdef __cplusplus
enum class LevelKind : uint8_t {
    strided,       // child i lies at i * stride
    indexed_block, // child i lies at displacement i of a list
    indexed,       // runs of children, child i of a run at i * stride from the run's displacement
};
#else
typedef uint8_t LevelKind;
#endif

typedef struct NestLevel {
    Divisor each;   // number of words of one child
    int32_t stride; // in words, to fit 32 bits: a product is then one instruction
} NestLevel;

// The lists of a level. Their addresses are in memory that the device can access: the library's own
// memory, or a caller's indices.
typedef struct NestList {
    uint64_t displacements;     // indexed_block: by child; indexed: by run
    uint64_t first;             // indexed: number of children before each run, and the total;
                                // indexed_block: unit of 64-bit entries, in bytes
    uint64_t starts;            // indexed: run of each 2^granule-th child, for short searches
    uint32_t displacement_unit; // of 32-bit entries, in words; entries and unit are signed.
                                // 0: 64-bit entries (indexed: bytes; indexed_block: see first)
    uint32_t granule;
} NestList;
UCD_GPU_SIZE(NestList, 32);

// Members that every thread reads come first, because the device loads parameters line by line for
// each launch.
typedef struct NestParams {
    uint64_t typed;      // address of the origin of the stream
    uint64_t packed;     // address of the aligned vector with the first byte
    uint32_t vectors;    // number of vectors that contain bytes of the range
    uint32_t first_word; // stream position of vector 0 in words; wraps if negative
    uint32_t head;       // number of bytes of vector 0 before the range
    uint32_t tail;       // number of bytes of the last vector before the range's end
    uint32_t tiles;
    uint32_t per_thread; // vectors of a tile that each thread moves: 1 or max_per_thread
    // True if the words of a vector are found together: for one level of runs whose children touch,
    // and if all words of each vector are in one row of an innermost strided level.
    uint32_t together;
    // Packing blocks of a vector and more in pieces: so many vectors at either end of the range may
    // have bytes of its first or last block, and are not packed so. 0: none is.
    uint32_t pieces;
    uint32_t neighbours; // true if neighbouring threads unpack neighbouring narrow words
    NestLevel level[max_levels];
    NestList list[max_levels];
} NestParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
