// Memory as cells in rows, each with how much of it a type touches and when in packed order. Large
// layouts are scaled: a cell is many bytes, a row of cells many rows of memory.
#pragma once

#include <ucd.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucdtool {

struct Cell {
    double bytes = 0;            // touched, counted as often as they are
    uint64_t first = UINT64_MAX; // the first packed byte in it
    bool in_bounds = false;      // some of it lies between lb and ub
    bool touched() const { return first != UINT64_MAX; }
};

struct Picture {
    int64_t low = 0, high = 0; // what is shown
    uint64_t cell_bytes = 1;   // of one row of memory in a cell
    uint64_t row_bytes = 1;    // memory that a row of cells covers...
    uint64_t rows_each = 1;    // ...so many times
    std::size_t columns = 0, rows = 0;
    std::vector<Cell> cells; // rows * columns
    uint64_t packed_bytes = 0;
    bool sampled = false; // cells come from samples of the packed stream, not from all of it

    bool exact() const { return rows_each == 1 && !sampled; }
    const Cell &at(std::size_t row, std::size_t column) const {
        return cells[row * columns + column];
    }
    int64_t row_at(std::size_t row) const {
        return low + static_cast<int64_t>(row * rows_each * row_bytes);
    }
};

struct PictureLimits {
    std::size_t columns = 64, rows = 32;
    uint64_t row_bytes = 0; // 0: chosen by the layout
};

// The time taken is bounded, however large the type is.
Picture picture_of(ucd::TypeRef type, uintptr_t count, const PictureLimits &limits);

} // namespace ucdtool
