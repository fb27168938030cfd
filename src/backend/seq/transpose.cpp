#include "transpose.h"

#include <algorithm>

namespace ucd::seq {
namespace {

template <unsigned width, Direction direction>
void move_tile(uint64_t rows, uint64_t columns, uintptr_t laid_out, uintptr_t row_stride,
               uintptr_t column_stride, char *packed, uint64_t packed_row) {
    for (uint64_t j = 0; j < columns; ++j) {
        uintptr_t at = laid_out + j * column_stride;
        char *p = packed + j * width;
        for (uint64_t i = 0; i < rows; ++i, at += row_stride, p += packed_row) {
            char *block = reinterpret_cast<char *>(at);
            if constexpr (direction == Direction::pack)
                __builtin_memcpy(p, block, width);
            else
                __builtin_memcpy(block, p, width);
        }
    }
}

template <unsigned width, Direction direction>
void move_matrix(const Matrix &m, char *laid_out, char *packed) {
    // A tile is a cache line of packed bytes wide and of the layout's bytes high.
    constexpr uint64_t side = std::max<uint64_t>(64 / width, 8);
    const uint64_t packed_row = m.columns * width;
    const auto row_stride = static_cast<uintptr_t>(m.row_stride);
    const auto column_stride = static_cast<uintptr_t>(m.column_stride);
    for (uint64_t i = 0; i < m.rows; i += side) {
        const uint64_t rows = std::min(side, m.rows - i);
        const uintptr_t row = reinterpret_cast<uintptr_t>(laid_out) + i * row_stride;
        for (uint64_t j = 0; j < m.columns; j += side) {
            const uint64_t columns = std::min(side, m.columns - j);
            char *p = packed + i * packed_row + j * width;
            const uintptr_t at = row + j * column_stride;
            if (rows == side && columns == side)
                move_tile<width, direction>(side, side, at, row_stride, column_stride, p,
                                            packed_row);
            else
                move_tile<width, direction>(rows, columns, at, row_stride, column_stride, p,
                                            packed_row);
        }
    }
}

template <unsigned width>
void move_width(const Matrix &m, char *laid_out, char *packed, Direction direction) {
    if (direction == Direction::pack)
        move_matrix<width, Direction::pack>(m, laid_out, packed);
    else
        move_matrix<width, Direction::unpack>(m, laid_out, packed);
}

} // namespace

void move_transposed(const Matrix &m, uint64_t block, char *laid_out, char *packed,
                     Direction direction) {
    switch (block) {
    case 1: return move_width<1>(m, laid_out, packed, direction);
    case 2: return move_width<2>(m, laid_out, packed, direction);
    case 4: return move_width<4>(m, laid_out, packed, direction);
    case 8: return move_width<8>(m, laid_out, packed, direction);
    case 16: return move_width<16>(m, laid_out, packed, direction);
    }
}

} // namespace ucd::seq
