// Two strided levels of which the inner one has the larger stride. In packed order, each cache line
// of the layout would be visited once per block. In tiles, both sides are accessed line by line.
#pragma once

#include "direction.h"

#include <cstdint>

namespace ucd::seq {

struct Matrix {
    uint64_t rows, columns;            // of the packed side
    int64_t row_stride, column_stride; // on the typed side
    uint64_t packed_row;               // bytes from one row to the next on the packed side
    uint64_t block;                    // bytes of an entry
};

// Moves all blocks of the matrix.
using TransposeKernel = void (*)(const Matrix &matrix, char *typed, char *packed);

// Whether tiles pay for these strides: some blocks share a cache line, and neighbours in a packed
// row do not.
constexpr bool is_transposed(const Matrix &m) {
    const auto magnitude = [](int64_t v) { return v < 0 ? -v : v; };
    constexpr int64_t line = 64;
    return m.block < line && m.rows >= 4 && m.columns >= 4 && magnitude(m.row_stride) < line &&
           magnitude(m.column_stride) >= line;
}

} // namespace ucd::seq
