// Many jobs as one launch. The 16-byte vectors of all members are numbered through, and a thread
// finds the member of its vector by the prefix sums of their vectors: so blocks have equal shares,
// however large or small members are. How a member's layout is walked is read from a table, in
// place of the constants of a generated kernel.
#pragma once

#include "words.h"

#include <cstdint>

namespace ucd::UCD_GPU {

struct alignas(vector_bytes) BatchMember {
    uintptr_t laid_out, packed; // see NestParams
    uint32_t first_word;
    uint32_t shape;
    uint32_t head, tail;
};
static_assert(sizeof(BatchMember) == 32);

// The table starts with the prefix sums. Everything else is given by its offset.
struct BatchSections {
    uint32_t vectors;   // of all members
    uint8_t granule;    // log2 of the vectors per entry of `starts`
    uint8_t per_thread; // vectors that a thread moves of a tile
    uint8_t neighbours; // see NestParams
    uint32_t tiles;
    uint32_t starts, members, shapes, lists;
};

inline constexpr uint32_t most_batch_vectors = uint32_t{1} << 30; // of one launch
inline constexpr uint32_t most_batch_vectors_per_thread = 4;
// Neighbouring threads have neighbouring vectors, in groups of so many; then come the next vectors of
// the same threads. So those of a thread are close together, and mostly of one member.
inline constexpr uint32_t batch_lanes = 32;

// A table in device memory.
struct BatchParams {
    BatchSections sections;
    const char *table;
};

// A table that travels with the launch. 4 KiB are what every device takes.
struct SmallBatchParams {
    static constexpr unsigned most_bytes = 4096 - 2 * vector_bytes;
    BatchSections sections;
    alignas(vector_bytes) char table[most_bytes];
};
static_assert(sizeof(SmallBatchParams) == 4096);

} // namespace ucd::UCD_GPU
