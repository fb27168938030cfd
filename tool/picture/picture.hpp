// Memory as rows of cells. Each cell tells how much of it a type touches, and when in packed order.
// Large layouts are scaled: a cell is many bytes, and a row of cells many rows of memory.
#pragma once

#include <ucd.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucdtool {

struct Cell {
    double bytes = 0;            // bytes touched, counted each time
    uint64_t first = UINT64_MAX; // the first packed byte in the cell
    bool in_bounds = false;      // some of the cell lies between lb and ub
    bool touched() const { return first != UINT64_MAX; }
};

struct Picture {
    int64_t low = 0, high = 0; // the range of memory that is shown
    uint64_t cell_bytes = 1;   // the bytes of one row of memory that a cell shows
    uint64_t row_bytes = 1;    // bytes of a row of memory
    uint64_t rows_each = 1;    // rows of memory that a row of cells shows
    std::size_t columns = 0, rows = 0;
    std::vector<Cell> cells; // rows * columns
    uint64_t packed_bytes = 0;
    bool sampled = false; // cells are computed from samples of the packed stream

    bool exact() const { return rows_each == 1 && !sampled; }
    const Cell &at(std::size_t row, std::size_t column) const {
        return cells[row * columns + column];
    }
    int64_t row_at(std::size_t row) const {
        // Without a sign, since the distance may be larger than an int64_t.
        return static_cast<int64_t>(static_cast<uint64_t>(low) + row * rows_each * row_bytes);
    }
};

struct PictureLimits {
    std::size_t columns = 64, rows = 32;
    uint64_t row_bytes = 0; // 0: derived from the layout
};

// Takes bounded time, however large the type is.
Picture picture_of(ucd::TypeRef type, uintptr_t count, const PictureLimits &limits);

} // namespace ucdtool
