// The body of the kernels that transpose.
#pragma once

#include "transpose.h"

namespace ucd::UCD_GPU {

struct Tile {
    uintptr_t laid_out; // of its first element
    uint64_t position;  // in the stream
    uint32_t columns, rows;
};

UCD_GPU_FUNCTION Tile tile_at(const TransposeParams &p, uint32_t index, uint32_t width) {
    const uint32_t above = p.column_tiles.quotient(index);
    const uint64_t column = uint64_t{index - above * p.column_tiles.value} * tile_side;
    const uint32_t matrix = p.row_tiles.quotient(above);
    const uint64_t row = uint64_t{above - matrix * p.row_tiles.value} * tile_side;
    const uint32_t outer0 = p.outer_tiles.quotient(matrix);
    const uint32_t outer1 = matrix - outer0 * p.outer_tiles.value;
    Tile t;
    t.laid_out = p.laid_out + row * static_cast<uint64_t>(p.row_stride) +
                 column * static_cast<uint64_t>(p.column_stride) +
                 outer0 * static_cast<uint64_t>(p.outer_stride[0]) +
                 outer1 * static_cast<uint64_t>(p.outer_stride[1]);
    t.position = row * p.row_bytes + column * width + outer0 * p.outer_bytes[0] +
                 outer1 * p.outer_bytes[1];
    const uint64_t columns = p.columns - column, rows = p.rows - row;
    t.columns = columns < tile_side ? static_cast<uint32_t>(columns) : tile_side;
    t.rows = rows < tile_side ? static_cast<uint32_t>(rows) : tile_side;
    return t;
}

// An element that may lie in the range only in part, or not at all.
template <Direction direction, unsigned width>
UCD_GPU_FUNCTION void move_bytes_in_range(const TransposeParams &p, uintptr_t place,
                                          uint64_t position) {
    for (uint32_t i = 0; i < width; ++i) {
        const uint64_t at = position + i;
        if (at < p.begin || at >= p.end) continue;
        if constexpr (direction == Direction::pack)
            store<uint8_t>(p.packed + at, load<uint8_t>(place + i));
        else
            store<uint8_t>(place + i, load<uint8_t>(p.packed + at));
    }
}

template <Direction direction, unsigned width>
UCD_GPU_FUNCTION void run_transpose(const TransposeParams &p) {
    // The spare column keeps a column's elements in different banks.
    UCD_GPU_SHARED Word<width> elements[tile_side][tile_side + 1];
    constexpr unsigned lines = threads_per_block / tile_side; // moved at a time
    const auto in_range = [&](uint64_t position) {
        return position >= p.begin && position + width <= p.end;
    };
    for (uint32_t index = UCD_GPU_BLOCK; index < p.tiles; index += UCD_GPU_BLOCKS) {
        const Tile t = tile_at(p, index, width);
        UCD_GPU_FOR_EACH_THREAD(thread) {
            const uint32_t lane = thread % tile_side;
#pragma unroll
            for (uint32_t line = thread / tile_side; line < tile_side; line += lines) {
                // Along rows in memory, along columns in the stream.
                const uint32_t row = direction == Direction::pack ? lane : line;
                const uint32_t column = direction == Direction::pack ? line : lane;
                if (row >= t.rows || column >= t.columns) continue;
                const uint64_t position = t.position + row * p.row_bytes + column * width;
                const uintptr_t place = t.laid_out + row * static_cast<uint64_t>(p.row_stride) +
                                        column * static_cast<uint64_t>(p.column_stride);
                if (!in_range(position)) {
                    move_bytes_in_range<direction, width>(p, place, position);
                    continue;
                }
                elements[row][column] = load<Word<width>>(
                    direction == Direction::pack ? place : p.packed + position);
            }
        }
        UCD_GPU_BARRIER();
        UCD_GPU_FOR_EACH_THREAD(thread) {
            const uint32_t lane = thread % tile_side;
#pragma unroll
            for (uint32_t line = thread / tile_side; line < tile_side; line += lines) {
                const uint32_t row = direction == Direction::pack ? line : lane;
                const uint32_t column = direction == Direction::pack ? lane : line;
                if (row >= t.rows || column >= t.columns) continue;
                const uint64_t position = t.position + row * p.row_bytes + column * width;
                if (!in_range(position)) continue;
                const uintptr_t place = t.laid_out + row * static_cast<uint64_t>(p.row_stride) +
                                        column * static_cast<uint64_t>(p.column_stride);
                store<Word<width>>(direction == Direction::pack ? p.packed + position : place,
                                   elements[row][column]);
            }
        }
        UCD_GPU_BARRIER();
    }
}

} // namespace ucd::UCD_GPU
