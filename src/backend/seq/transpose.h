// Two strided levels whose inner steps are the longer ones: moved in packed order, each cache line
// of the layout would be visited once per block. Moved in tiles, both sides stream.
#pragma once

#include "direction.h"

#include <cstdint>

namespace ucd::seq {

struct Matrix {
    uint64_t rows, columns;            // of the packed side, which is in row order
    int64_t row_stride, column_stride; // on the laid-out side
};

// Moves all blocks of the matrix; `block` is 1, 2, 4, 8 or 16 bytes.
void move_transposed(const Matrix &matrix, uint64_t block, char *laid_out, char *packed,
                     Direction direction);

// Whether tiles pay for such strides.
constexpr bool is_transposed(const Matrix &m, uint64_t block) {
    const auto magnitude = [](int64_t v) { return v < 0 ? -v : v; };
    const bool exact = block != 0 && block <= 16 && (block & (block - 1)) == 0;
    constexpr int64_t line = 64;
    return exact && m.rows >= 4 && m.columns >= 4 && magnitude(m.row_stride) < line &&
           magnitude(m.column_stride) >= line;
}

} // namespace ucd::seq
