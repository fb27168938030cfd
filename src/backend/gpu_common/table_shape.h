// A layout in a table: for kernels that know none, and read what generated ones have as constants.
#pragma once

#include "nest.h"
#include "words.h"

#include <cstdint>

namespace ucd::UCD_GPU {

// For words of one width.
struct alignas(vector_bytes) TableShape {
    static constexpr uint32_t program = 255; // in place of a number of levels
    uint32_t levels;
    uint32_t shift; // log2 of the width of words
    uint32_t kinds; // of levels: 2 bits each, the outermost in the lowest
    uint32_t lists; // index of the first level's list, if any level has one; of programs: the root
    union {
        NestLevel level[max_levels];
        struct {
            uint64_t image, nodes; // see ProgramParams
            uint64_t position;     // the stream byte that is counted from
        } program_at;
    };
};
static_assert(sizeof(TableShape) == 64);

// As it is in the table, too.
static_assert(sizeof(NestList) == 32);

} // namespace ucd::UCD_GPU
