// The order in which threads take the words of a copy between two device plans.
#pragma once

#include "kernels/plan_places.h"

namespace ucd::UCD_GPU {

// Where both layouts are transposes of one shape, neighbouring threads take words that are
// neighbours in memory on both sides: those of neighbouring rows. In words: the rows of a matrix,
// and the sizes of a row and of a matrix in the stream.
struct RowsOrder {
    static constexpr unsigned at_once = 2; // words of a thread; more would need more registers
    uint32_t rows, row, matrix;
    UCD_GPU_FUNCTION uint32_t word(uint32_t number) const {
        const uint32_t before = number / matrix * matrix, within = number - before;
        return before + within % rows * row + within / rows;
    }
};
struct StreamOrder {
    static constexpr unsigned at_once = 4;
    UCD_GPU_FUNCTION uint32_t word(uint32_t number) const { return number; }
};

// Returns false if the range is to be copied in the stream's order. No more than `levels` levels;
// positions fit 31 bits.
template <unsigned levels>
UCD_GPU_FUNCTION bool rows_order(const ucd_device_plan_t &from, const ucd_device_plan_t &to,
                                 uint32_t width, uint32_t offset, uint32_t bytes,
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
    order = {matrix / row, row / width, matrix / width};
    return true;
}

} // namespace ucd::UCD_GPU
