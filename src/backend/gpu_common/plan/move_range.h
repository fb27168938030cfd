// Derives the kernels' parameters from a move's range and addresses.
#pragma once

#include "move.h"
#include "params/nest.h"
#include "plan/shape.h"

#include <algorithm>
#include <bit>

namespace ucd::gpu {

inline constexpr uint64_t max_positions = uint64_t{1} << 31;

// The largest word that divides the numbers and addresses whose bitwise or is `bits`.
inline uint32_t common_alignment(uint64_t bits) {
    bits |= vector_bytes;
    return static_cast<uint32_t>(bits & (~bits + 1));
}

// The 16-byte vectors of the packed side that contain the range.
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

// `max_blocks` is the limit; 0 means no limit.
inline uint32_t grid_for(uint64_t tiles, uint32_t max_blocks) {
    constexpr uint64_t most = (uint64_t{1} << 31) - 1;
    return static_cast<uint32_t>(std::min(tiles, max_blocks > 0 ? max_blocks : most));
}

// A list of a caller's indices, in the form of the library's own displacements. See
// reads_indices().
inline NestList caller_list(const IndexList &indices, uint32_t word) {
    const bool wide = packed_size(indices.element) == sizeof(int64_t);
    return {.displacements = reinterpret_cast<uintptr_t>(indices.indices),
            .first = static_cast<uint64_t>(indices.unit),
            .starts = 0,
            .displacement_unit = wide ? 0 : static_cast<uint32_t>(indices.unit / int64_t{word}),
            .granule = 0};
}

// `lists` is the address of the plan's lists on the device.
inline NestList nest_list(const ShapeLevel &level, uint32_t word, uint64_t lists) {
    if (is_by_reference(level)) return caller_list(level.indices, word);
    return {.displacements = lists + level.displacements,
            .first = level.kind == LevelKind::indexed_block ? 1 : lists + level.first,
            .starts = lists + level.starts,
            .displacement_unit = level.displacement_unit / word,
            .granule = level.granule};
}

// The stream bytes before the outermost level's child that contains the offset: starting there
// keeps positions small in a large layout. Not for runs, which are found by child number.
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

// Whether nest kernels can read the indices of the level: they support signed 32-bit indices whose
// unit in words fits 32 bits, and 64-bit indices.
inline bool reads_indices(const ShapeLevel &level, int word_shift) {
    if (level.indices.element == Element::uint32 && !level.indices.small) return false;
    if (packed_size(level.indices.element) == sizeof(int64_t)) return true;
    return level.indices.unit != 0 && fits_32_bits(level.indices.unit >> word_shift);
}

// Strides and units are multiples of the word, 1 << word_shift. Shifts are used because a division
// for each of a batch's many members would take too long.
inline bool fits_level(const ShapeLevel &level, int word_shift) {
    return fits_32_bits(level.stride >> word_shift) &&
           (!is_by_reference(level) || reads_indices(level, word_shift));
}

// Whether a kernel for nests moves the range, whose positions are relative to byte `skipped`.
inline bool fits_nest(const Shape &shape, uint64_t skipped, const Slice &range, uint32_t word) {
    if (shape.levels == 0) return false;
    const int shift = std::countr_zero(word);
    const uint64_t end = range.offset - skipped + range.length;
    for (unsigned k = 0; k < shape.levels; ++k)
        if (!fits_level(shape.level[k], shift)) return false;
    return (end >> shift) + vector_bytes < max_positions;
}

} // namespace ucd::gpu
