// What a job's range and addresses mean to kernels.
#pragma once

#include "job.h"
#include "params/nest.h"
#include "plan/shape.h"

#include <algorithm>
#include <bit>

namespace ucd::gpu {

inline constexpr uint64_t max_positions = uint64_t{1} << 31;

// The largest word of which numbers and addresses are multiples; their bits are or-ed.
inline uint32_t common_alignment(uint64_t bits) {
    bits |= vector_bytes;
    return static_cast<uint32_t>(bits & (~bits + 1));
}

// The 16-byte vectors of the packed side that hold the range.
struct Vectors {
    uintptr_t start;
    uint64_t count;
    uint32_t head, tail; // see NestParams

    Vectors(uintptr_t packed, uint64_t length)
        : start(packed / vector_bytes * vector_bytes),
          count((packed + length - start + vector_bytes - 1) / vector_bytes),
          head(static_cast<uint32_t>(packed - start)),
          tail(static_cast<uint32_t>(packed + length - (start + (count - 1) * vector_bytes))) {}
};

// `max_blocks`: 0 if there is no cap.
inline uint32_t grid_for(uint64_t tiles, uint32_t max_blocks) {
    constexpr uint64_t most = (uint64_t{1} << 31) - 1;
    return static_cast<uint32_t>(std::min(tiles, max_blocks > 0 ? max_blocks : most));
}

// `lists`: the address of the plan's lists on the device.
inline NestList nest_list(const ShapeLevel &level, uint32_t word, uint64_t lists) {
    return {.displacements = lists + level.displacements,
            .first = lists + level.first,
            .starts = lists + level.starts,
            .displacement_unit = level.displacement_unit / word,
            .granule = level.granule};
}

// The outermost level may start at the child that holds the offset, so that positions stay small
// wherever in a large layout the range lies. Runs are found by their number, and stay.
inline uint64_t skipped_bytes(const Shape &shape, uint64_t offset) {
    if (shape.levels == 0 || shape.level[0].kind == LevelKind::indexed) return 0;
    return offset / shape.level[0].each * shape.level[0].each;
}

inline uint64_t skip_children(const ShapeLevel &outermost, uint64_t offset, uintptr_t &typed,
                              NestList &list) {
    if (outermost.kind == LevelKind::indexed) return 0;
    const uint64_t skipped = offset / outermost.each;
    if (outermost.kind == LevelKind::strided) {
        typed += skipped * static_cast<uint64_t>(outermost.stride);
    } else {
        const uint64_t entry = list.displacement_unit == 0 ? sizeof(int64_t) : sizeof(int32_t);
        list.displacements += skipped * entry;
    }
    return skipped * outermost.each;
}

inline bool fits_32_bits(int64_t n) {
    return n == static_cast<int32_t>(n);
}

// Strides are multiples of the word, a power of two: members of a batch are too many for divisions.
inline bool fits_nest(const Shape &shape, uint64_t skipped, const Job &job, uint32_t word) {
    if (shape.levels == 0) return false;
    const int shift = std::countr_zero(word);
    const uint64_t end = job.offset - skipped + job.length;
    for (unsigned k = 0; k < shape.levels; ++k)
        if (!fits_32_bits(shape.level[k].stride >> shift)) return false;
    return (end >> shift) + vector_bytes < max_positions;
}

} // namespace ucd::gpu
