// Many moves as one launch. The 16-byte vectors of all members are numbered through, and a thread
// finds the member of its vector by the prefix sums of their vectors: so blocks have equal shares,
// however large or small members are. How a member's layout is walked is read from a table, in
// place of the constants of a generated kernel.
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

// The table starts with the prefix sums. Everything else is given by its offset.
typedef struct BatchSections {
    uint32_t vectors;   // of all members
    uint8_t granule;    // log2 of the vectors per entry of `starts`
    uint8_t per_thread; // vectors that a thread moves of a tile
    uint8_t neighbours; // see NestParams
    uint8_t unused;
    uint32_t tiles;
    uint32_t starts, members, shapes, lists;
} BatchSections;

#ifdef __cplusplus
inline constexpr uint32_t max_batch_vectors = uint32_t{1} << 30; // of one launch
#endif
UCD_GPU_CONSTANT(max_batch_vectors_per_thread, 4);

// Of a batch whose members have parameters of their own: what a block takes of a member.
typedef struct MemberTile {
    uint32_t member, number;
} MemberTile;

// A table in device memory. (A small table travels with the launch: see kernels/batch_kernels.h.)
typedef struct BatchParams {
    BatchSections sections;
    uint32_t unused;
    uint64_t table; // its address
} BatchParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
