// Packs and unpacks transposes by a device plan, in tiles through shared memory.
#pragma once

#include "kernels/plan_moves.h"
#include "transpose.h"

namespace ucd::UCD_GPU {

// A divisor that is known to the device only.
struct PlainDivisor {
    uint32_t value;
};
UCD_GPU_FUNCTION uint32_t quotient(uint32_t n, const PlainDivisor &d) {
    return n / d.value;
}

// A transpose, and how it is divided into tiles.
struct PlanTranspose {
    uint64_t columns, rows;
    int64_t column_stride, row_stride;
    uint64_t row_bytes;
    int64_t outer_stride[max_outer_levels];
    uint64_t outer_bytes[max_outer_levels];
    PlainDivisor column_tiles, row_tiles, outer_tiles;
    uint32_t matrices, tiles;
    uintptr_t typed;
    uintptr_t packed;
    uint64_t begin, end;
};

// Divides as divide_by() does, but by 32-bit numbers only if all positions of the plan fit.
template <bool fits>
UCD_GPU_FUNCTION uint64_t divide_position(const ucd_device_level_t &level, uint64_t &at) {
    if constexpr (!fits) return divide_by(level, at);
    const uint32_t child = quotient(static_cast<uint32_t>(at), divisor_of(level));
    at -= child * static_cast<uint32_t>(level.each);
    return child;
}

// Returns false if tiles cannot move the range, or would read much more than it. The plan has no
// more than max_levels levels; `fits` is true if all its positions fit 31 bits.
template <unsigned max_levels, bool fits>
UCD_GPU_FUNCTION bool transpose_by_plan(const ucd_device_plan_t &plan, uint32_t shift,
                                        uintptr_t typed, uintptr_t packed, uint64_t offset,
                                        uint64_t bytes, PlanTranspose &p) {
    const unsigned levels = plan.levels, row = plan.row;
    if (row >= levels || plan.level[0].each >= max_divided) return false;
    uint64_t at = offset, last = offset + bytes - 1;
    const uint64_t skipped = divide_position<fits>(plan.level[0], at);
    const uint64_t children = divide_position<fits>(plan.level[0], last) - skipped + 1;
    const uint64_t each = plan.level[0].each;
    if (children * each / 2 > bytes || children >= max_divided) return false;
    p.typed = typed + static_cast<uint64_t>(plan.origin) +
              skipped * static_cast<uint64_t>(plan.level[0].stride);
    p.packed = packed - offset + skipped * each;
    p.begin = offset - skipped * each;
    p.end = p.begin + bytes;
    uint64_t outer_count[max_outer_levels] = {1, 1};
    p.outer_stride[0] = p.outer_stride[1] = 0;
    p.outer_bytes[0] = p.outer_bytes[1] = 0;
    uint32_t outer = 0;
    uint64_t around = 0; // packed bytes of the level before
#pragma unroll
    for (unsigned k = 0; k < max_levels; ++k) {
        if (k >= levels) break;
        const ucd_device_level_t &level = plan.level[k];
        uint64_t rest = around;
        const uint64_t count = k == 0 ? children : divide_position<fits>(level, rest);
        around = level.each;
        if (k + 1 == levels) {
            if (1u << shift < level.each) return false;
            p.columns = count;
            p.column_stride = level.stride;
        } else if (k == row) {
            p.rows = count;
            p.row_stride = level.stride;
            p.row_bytes = level.each;
        } else if (outer == 0) {
            outer_count[1] = count;
            p.outer_stride[1] = level.stride;
            p.outer_bytes[1] = level.each;
            outer = 1;
        } else {
            outer_count[0] = outer_count[1];
            p.outer_stride[0] = p.outer_stride[1];
            p.outer_bytes[0] = p.outer_bytes[1];
            outer_count[1] = count;
            p.outer_stride[1] = level.stride;
            p.outer_bytes[1] = level.each;
        }
    }
    const uint64_t column_tiles = (p.columns + tile_side - 1) / tile_side;
    const uint64_t row_tiles = (p.rows + tile_side - 1) / tile_side;
    const uint64_t matrices = outer_count[0] * outer_count[1];
    if (p.rows < tile_side / 4 || column_tiles >> 20 != 0 || row_tiles >> 20 != 0 ||
        matrices >= max_divided || column_tiles * row_tiles >= max_divided ||
        column_tiles * row_tiles * matrices >= max_divided)
        return false;
    p.column_tiles.value = static_cast<uint32_t>(column_tiles);
    p.row_tiles.value = static_cast<uint32_t>(row_tiles);
    p.outer_tiles.value = static_cast<uint32_t>(outer_count[1]);
    p.matrices = static_cast<uint32_t>(matrices);
    p.tiles = static_cast<uint32_t>(column_tiles * row_tiles * matrices);
    return true;
}

template <Direction direction, unsigned width, class Team>
UCD_GPU_FUNCTION void move_tiles(const PlanTranspose &p, void *scratch, const Team &team) {
    auto &tile = *static_cast<TileMemory<width> *>(scratch);
#pragma unroll 1
    for (uint32_t index = team.first(); index < p.tiles; index += team.teams())
        transpose_tile<direction, width>(p, index, tile, team);
}

UCD_GPU_FUNCTION uint32_t element_of(const ucd_device_plan_t &plan) {
    return static_cast<uint32_t>((plan.levels == 2   ? plan.level[1]
                                  : plan.levels == 3 ? plan.level[2]
                                                     : plan.level[3])
                                     .each);
}

// Whether the plan is a transpose, and the threads and the shared memory suffice to move it.
template <class Team>
UCD_GPU_FUNCTION bool can_move_tiles(const Team &team, const ucd_device_plan_t &plan,
                                     uint32_t scratch_bytes) {
    return plan.row < plan.levels && !is_interpreted(plan) && team.threads() > 0 &&
           team.threads() % tile_side == 0 &&
           scratch_bytes >= tile_side * (tile_side + 1) * element_of(plan);
}

// Moves the range in tiles and returns true, or does nothing and returns false. `scratch` is shared
// memory, aligned to 16 bytes. All threads of the team call this.
template <Direction direction, class Team>
UCD_GPU_FUNCTION bool move_by_tiles(const Team &team, const ucd_device_plan_t &plan,
                                    uintptr_t typed, uintptr_t packed, uint64_t offset,
                                    uint64_t bytes, void *scratch, uint32_t scratch_bytes) {
    assert(offset <= plan.bytes && bytes <= plan.bytes - offset);
    if (bytes == 0 || !can_move_tiles(team, plan, scratch_bytes)) return false;
    const uint32_t shift =
        word_shift(plan.word, (typed + static_cast<uint64_t>(plan.origin)) | (packed - offset));
    PlanTranspose p;
    if (!transpose_by_plan<max_plan_levels, false>(plan, shift, typed, packed, offset, bytes, p))
        return false;
    switch (element_of(plan)) {
    case 16: move_tiles<direction, 16>(p, scratch, team); break;
    case 8: move_tiles<direction, 8>(p, scratch, team); break;
    case 4: move_tiles<direction, 4>(p, scratch, team); break;
    case 2: move_tiles<direction, 2>(p, scratch, team); break;
    default: move_tiles<direction, 1>(p, scratch, team); break;
    }
    return true;
}

// The same for a plan of strided levels, no more than `levels`, and words of a known width. Fewer
// than two levels are no transpose.
template <Direction direction, unsigned width, unsigned levels, class Team>
UCD_GPU_FUNCTION bool move_known_by_tiles(const Team &team, const ucd_device_plan_t &plan,
                                          uintptr_t typed, uintptr_t packed, uint64_t offset,
                                          uint64_t bytes, void *scratch, uint32_t scratch_bytes) {
    if constexpr (levels > 1) {
        assert(offset <= plan.bytes && bytes <= plan.bytes - offset);
        if (bytes == 0 || !can_move_tiles(team, plan, scratch_bytes) || element_of(plan) != width)
            return false;
        PlanTranspose p;
        if (!transpose_by_plan<levels, true>(plan, shift_of_width<width>, typed, packed, offset,
                                             bytes, p))
            return false;
        move_tiles<direction, width>(p, scratch, team);
        return true;
    }
    return false;
}

} // namespace ucd::UCD_GPU
