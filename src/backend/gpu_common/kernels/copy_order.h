// Copies between two device plans that are transposes of one shape.
#pragma once

#include "kernels/plan_places.h"

namespace ucd::UCD_GPU {

// Neighbouring threads take words that are neighbours in memory on both sides: those of a column,
// which belong to neighbouring rows. If addresses allow it, they take vectors, which have a word of
// each of several neighbouring rows. A thread takes those of a few columns next to each other,
// whose place is found once.
struct RowsOrder {
    static constexpr unsigned at_once = 4; // columns of a thread
    bool by_vectors;
    uint32_t rows;         // words or vectors of a column
    uint32_t run, matrix;  // words of the stream: columns at equal distances, and all rows
    uint32_t runs, groups; // runs of a row, and a run's groups of columns
    uint32_t shares;       // rows * groups, of all runs
    uint32_t first_row;    // if the rows are children of the outermost level
    int32_t from_row, to_row, from_column, to_column; // distances in memory
};

// Returns false if the range is to be copied in the stream's order. `bits` are those of both
// addresses. The plans have no more than `levels` levels; positions fit 31 bits.
template <unsigned levels>
UCD_GPU_FUNCTION bool rows_order(const ucd_device_plan_t &from, const ucd_device_plan_t &to,
                                 uint32_t width, uint64_t bits, uint32_t offset, uint32_t bytes,
                                 RowsOrder &order) {
    if (from.levels != levels) {
        if constexpr (levels > 2)
            return rows_order<levels - 1>(from, to, width, bits, offset, bytes, order);
        return false;
    }
    constexpr unsigned last = levels - 1;
    const unsigned row = from.row;
    // On both sides, each child of the innermost level is a word.
    uint64_t differ = (from.level[last].each ^ width) | (to.level[last].each ^ width);
    Divisor by_row = divisor_of(from.level[0]), by_matrix{bytes, 0, 0};
    order.from_row = static_cast<int32_t>(from.level[0].stride);
    order.to_row = static_cast<int32_t>(to.level[0].stride);
    order.from_column = static_cast<int32_t>(from.level[last].stride);
    order.to_column = static_cast<int32_t>(to.level[last].stride);
    // This has the bits of all distances of columns and of matrices.
    uint32_t apart = static_cast<uint32_t>(order.from_column | order.to_column);
#pragma unroll
    for (unsigned k = 0; k < last; ++k) {
        if (k + 1 >= row) differ |= from.level[k].each ^ to.level[k].each;
        if (k != row) apart |= static_cast<uint32_t>(from.level[k].stride | to.level[k].stride);
        if (k == 0 || k != row) continue;
        by_row = divisor_of(from.level[k]);
        by_matrix = divisor_of(from.level[k - 1]);
        order.from_row = static_cast<int32_t>(from.level[k].stride);
        order.to_row = static_cast<int32_t>(to.level[k].stride);
    }
    if (to.levels != levels || to.row != row || row >= last || differ != 0) return false;
    uint32_t matrices = 1;
    if (levels > 2 && row > 0) {
        matrices = quotient(bytes, by_matrix);
        if (quotient(offset, by_matrix) * by_matrix.value != offset ||
            matrices * by_matrix.value != bytes)
            return false;
    }
    const uint32_t rows = quotient(by_matrix.value, by_row);
    order.first_row = quotient(offset, by_row);
    if (rows * by_row.value != by_matrix.value || order.first_row * by_row.value != offset)
        return false;
    const uint32_t several = vector_bytes / width;
    const auto touching = static_cast<int32_t>(width);
    order.by_vectors = ((bits | apart) % vector_bytes | (rows | order.first_row) % several) == 0 &&
                       order.from_row == touching && order.to_row == touching;
    order.rows = order.by_vectors ? rows / several : rows;
    const auto run = static_cast<uint32_t>(from.level[last - 1].each);
    order.run = run / width;
    order.matrix = by_matrix.value / width;
    order.runs = levels == 2 || run == by_row.value ? 1 : by_row.value / run;
    order.groups = (order.run + RowsOrder::at_once - 1) / RowsOrder::at_once;
    order.shares = order.rows * order.groups * order.runs * matrices;
    return true;
}

UCD_GPU_FUNCTION uint64_t distance(uint32_t count, int32_t each) {
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(count)} * each);
}

// Copies shares of the range at distances of the group's size. `first` is the range's first word.
template <unsigned width, unsigned levels, class From, class To>
UCD_GPU_FUNCTION void copy_columns(const RowsOrder &order, const From &from, uintptr_t source,
                                   const To &to, uintptr_t target, uint32_t first, uint32_t rank,
                                   uint32_t size) {
    constexpr bool by_vectors = width == vector_bytes && From::known_width < vector_bytes;
    constexpr unsigned at_once = RowsOrder::at_once;
#pragma unroll 1
    for (uint32_t number = rank; number < order.shares; number += size) {
        uint32_t group = number / order.rows;
        const uint32_t row = number - group * order.rows;
        uintptr_t places[2] = {source, target};
        if constexpr (levels == 2) {
            places[0] += distance(order.first_row, by_vectors ? From::known_width : order.from_row);
            places[1] += distance(order.first_row, by_vectors ? To::known_width : order.to_row);
        } else {
            uint32_t run = group / order.groups;
            group -= run * order.groups;
            const uint32_t matrix = order.runs == 1 ? run : run / order.runs;
            const uint32_t word =
                first + matrix * order.matrix + (run - matrix * order.runs) * order.run;
            uint32_t of_run[1] = {word};
            uintptr_t found[1];
            from.find({source}, of_run, found);
            places[0] = found[0];
            of_run[0] = word;
            to.find({target}, of_run, found);
            places[1] = found[0];
        }
        const uint32_t column = group * at_once, left = order.run - column;
        places[0] += distance(row, by_vectors ? vector_bytes : order.from_row) +
                     distance(column, order.from_column);
        places[1] += distance(row, by_vectors ? vector_bytes : order.to_row) +
                     distance(column, order.to_column);
        Word<width> words[at_once];
#pragma unroll
        for (unsigned i = 0; i < at_once; ++i)
            if (i < left) words[i] = load<Word<width>>(places[0] + distance(i, order.from_column));
#pragma unroll
        for (unsigned i = 0; i < at_once; ++i)
            if (i < left) store<Word<width>>(places[1] + distance(i, order.to_column), words[i]);
    }
}

} // namespace ucd::UCD_GPU
