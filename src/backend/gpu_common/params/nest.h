// What the generated kernels work on: up to three levels around blocks of bytes, given by value
// with the launch. Positions are counted in words of the kernel's width and fit 31 bits. The
// interpreter kernel moves what does not fit.
//
// Every level has the packed size of one child, which is all that is needed to find the child. The
// number of children is not needed: no position lies beyond the end.
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
    Divisor each;   // words of one child
    int32_t stride; // in words, so that a product takes one instruction
} NestLevel;

// What levels with lists have besides; addresses of lists in memory that the device reaches: the
// library's own, or a caller's indices.
typedef struct NestList {
    uint64_t displacements;     // indexed_block: by child; indexed: by run
    uint64_t first;             // indexed: children before each run, and a last entry beyond all;
                                // indexed_block: the unit in bytes of entries with 64 bits
    uint64_t starts;            // indexed: the run of each 2^granule-th child: short searches
    uint32_t displacement_unit; // of signed entries with 32 bits, in words; a signed number, too.
                                // 0: entries have 64 bits, and are bytes if nothing else is said
    uint32_t granule;
} NestList;
UCD_GPU_SIZE(NestList, 32);

// What every thread reads comes first: the device loads parameters line by line for each launch.
typedef struct NestParams {
    uint64_t typed;      // where the first byte of the stream's origin lies
    uint64_t packed;     // the aligned vector that holds the first byte
    uint32_t vectors;    // that hold a byte of the range
    uint32_t first_word; // the stream word that vector 0 starts with; wraps if it would be negative
    uint32_t head;       // bytes of vector 0 before the range
    uint32_t tail;       // bytes of the last vector up to the end of the range
    uint32_t tiles;
    uint32_t per_thread; // vectors that each thread moves of a tile: 1, or max_per_thread
    uint32_t dense;      // one level of runs whose children touch
    uint32_t neighbours; // words narrower than a vector are unpacked by neighbouring threads
    NestLevel level[max_levels];
    NestList list[max_levels];
} NestParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
