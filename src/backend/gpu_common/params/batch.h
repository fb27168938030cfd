// Many moves in one launch. The 16-byte vectors of all members are numbered consecutively, and a
// thread finds the member of its vector by the prefix sums of the members' vectors. Blocks thus
// have equal shares of the work, however the sizes of members differ. A member's layout is read
// from a table, which replaces the constants of a generated kernel.
#pragma once

#include "params/types.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

typedef struct __attribute__((aligned(vector_bytes))) BatchMember {
    uint64_t typed, packed; // see NestParams
    uint32_t first_word;
    uint32_t shape;
    uint32_t head, tail;
} BatchMember;
UCD_GPU_SIZE(BatchMember, 32);

// The table starts with the prefix sums. The other sections are given by their offsets.
typedef struct BatchSections {
    uint32_t vectors;   // number of vectors of all members
    uint8_t granule;    // log2 of the number of vectors for each entry of `starts`
    uint8_t per_thread; // vectors of a tile that each thread moves
    uint8_t neighbours; // see NestParams
    uint8_t unused;
    uint32_t tiles;
    uint32_t starts, members, shapes, lists;
} BatchSections;

#ifdef __cplusplus
inline constexpr uint32_t max_batch_vectors = uint32_t{1} << 30; // limit for one launch
#endif
UCD_GPU_CONSTANT(max_batch_vectors_per_thread, 4);

// A tile of a batch whose members have parameters of their own: the part of a member that one block
// works on.
typedef struct MemberTile {
    uint32_t member, number;
} MemberTile;

// A table in device memory. (A small table is passed in the launch's parameters:
// kernels/batch_kernels.h.)
typedef struct BatchParams {
    BatchSections sections;
    uint32_t unused;
    uint64_t table; // address of the table
} BatchParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
