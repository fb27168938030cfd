// The order in which threads take the words of a copy between two device plans.
#pragma once

#include "kernels/plan_places.h"

namespace ucd::UCD_GPU {

// Where both layouts are transposes of one shape, neighbouring threads take words that are
// neighbours in memory on both sides: those of neighbouring rows. If addresses allow it, they take
// vectors, which have a word of each of several neighbouring rows.
struct RowsOrder {
    static constexpr unsigned at_once = 2; // of a thread; more would need more registers
    bool by_vectors;
    uint32_t rows, taken; // words or vectors of a column and of a matrix
    uint32_t row, matrix; // the distances, in words of the stream, of these rows and of matrices
    UCD_GPU_FUNCTION uint32_t word(uint32_t number) const {
        const uint32_t before = number / taken, within = number - before * taken;
        const uint32_t column = within / rows;
        return before * matrix + (within - column * rows) * row + column;
    }
};
struct StreamOrder {
    static constexpr unsigned at_once = 4;
    UCD_GPU_FUNCTION uint32_t word(uint32_t number) const { return number; }
};

// The bits of distances in memory between the columns of transposes, and between matrices. They are
// odd if the words of a column do not touch.
template <unsigned levels>
UCD_GPU_FUNCTION uint64_t bits_of_columns(const ucd_device_plan_t &plan, uint32_t width) {
    uint64_t bits = 0;
#pragma unroll
    for (unsigned k = 0; k < levels; ++k) {
        if (k >= plan.levels) break;
        const int64_t stride = plan.level[k].stride;
        bits |= k != plan.row ? static_cast<uint64_t>(stride) : stride != int64_t{width} ? 1 : 0;
    }
    return bits;
}

// Returns false if the range is to be copied in the stream's order. `bits` are those of both
// addresses. No more than `levels` levels; positions fit 31 bits.
template <unsigned levels>
UCD_GPU_FUNCTION bool rows_order(const ucd_device_plan_t &from, const ucd_device_plan_t &to,
                                 uint32_t width, uint64_t bits, uint32_t offset, uint32_t bytes,
                                 RowsOrder &order) {
    if (from.row >= from.levels || from.row != to.row || from.levels != to.levels) return false;
    uint32_t matrix = 0, row = 0;
#pragma unroll
    for (unsigned k = 0; k < levels; ++k) {
        const auto each = static_cast<uint32_t>(from.level[k].each);
        if (k + 1 < from.row || k >= from.levels) continue;
        if (to.level[k].each != each || (k + 1u == from.levels && each != width)) return false;
        if (k + 1 == from.row) matrix = each;
        if (k == from.row) row = each;
    }
    if (matrix == 0) { // the rows are children of the outermost level
        if (offset % row != 0 || bytes % row != 0) return false;
        matrix = bytes;
    } else if (offset % matrix != 0 || bytes % matrix != 0) {
        return false;
    }
    const uint32_t rows = matrix / row, several = vector_bytes / width;
    bits |= bits_of_columns<levels>(from, width) | bits_of_columns<levels>(to, width);
    const bool by_vectors =
        bits % vector_bytes == 0 && rows % several == 0 && offset / row % several == 0;
    const uint32_t each = by_vectors ? several : 1;
    order = {by_vectors, rows / each, matrix / width / each, row / width * each, matrix / width};
    return true;
}

} // namespace ucd::UCD_GPU
