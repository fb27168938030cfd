// Transposes by tiles in shared memory.
#pragma once

#include "kernels/divide.h"
#include "kernels/words.h"

namespace ucd::UCD_GPU {

inline constexpr uint32_t tile_side = tuning.tile_side;
inline constexpr unsigned max_outer_levels = 2; // around the matrix

struct Tile {
    uintptr_t typed;   // address of its first element
    uint64_t position; // of its first element in the stream
    uint32_t columns, rows;
};

// Params has the members of PlanTranspose (plan_tiles.h).
template <class Params>
UCD_GPU_FUNCTION Tile tile_at(const Params &p, uint32_t index, uint32_t width) {
    const uint32_t above = quotient(index, p.column_tiles);
    const uint64_t column = uint64_t{index - above * p.column_tiles.value} * tile_side;
    uint64_t row = uint64_t{above} * tile_side;
    uint32_t outer0 = 0, outer1 = 0;
    if (p.matrices > 1) {
        const uint32_t matrix = quotient(above, p.row_tiles);
        row = uint64_t{above - matrix * p.row_tiles.value} * tile_side;
        outer0 = quotient(matrix, p.outer_tiles);
        outer1 = matrix - outer0 * p.outer_tiles.value;
    }
    Tile t;
    t.typed = p.typed + row * static_cast<uint64_t>(p.row_stride) +
              column * static_cast<uint64_t>(p.column_stride) +
              outer0 * static_cast<uint64_t>(p.outer_stride[0]) +
              outer1 * static_cast<uint64_t>(p.outer_stride[1]);
    t.position =
        row * p.row_bytes + column * width + outer0 * p.outer_bytes[0] + outer1 * p.outer_bytes[1];
    const uint64_t columns = p.columns - column, rows = p.rows - row;
    t.columns = columns < tile_side ? static_cast<uint32_t>(columns) : tile_side;
    t.rows = rows < tile_side ? static_cast<uint32_t>(rows) : tile_side;
    return t;
}

// Moves those bytes of an element that are in the range, which may be none.
template <Direction direction, unsigned width, class Params>
UCD_GPU_FUNCTION void move_bytes_in_range(const Params &p, uintptr_t place, uint64_t position) {
    for (uint32_t i = 0; i < width; ++i) {
        const uint64_t at = position + i;
        if (at < p.begin || at >= p.end) continue;
        if constexpr (direction == Direction::pack)
            store<uint8_t>(p.packed + at, load<uint8_t>(place + i));
        else
            store<uint8_t>(place + i, load<uint8_t>(p.packed + at));
    }
}

template <unsigned width>
struct TileMemory {
    // The additional column avoids bank conflicts: it puts the elements of a column in different
    // banks.
    Word<width> elements[tile_side][tile_side + 1];
};

// The accesses that a thread has in progress at a time. In blocks of the usual size they are all of
// a tile.
inline constexpr unsigned elements_at_a_time = tile_side * tile_side / threads_per_block;
inline constexpr uint32_t usual_lines = tile_side / elements_at_a_time;

// One half of the move of a tile that is complete and within the range: between shared memory and
// the side with addresses base + line * line_step + lane * lane_step. Threads take `lines` lines of
// a tile at a time, which is a constant if `usual` is true.
template <unsigned width, bool in, bool by_columns, bool usual>
UCD_GPU_FUNCTION void move_half(TileMemory<width> &tile, uint32_t thread, uint32_t any_lines,
                                uintptr_t base, uint64_t line_step, uint64_t lane_step) {
    const uint32_t lines = usual ? usual_lines : any_lines;
    const uint32_t lane = thread % tile_side;
    uintptr_t at = base + thread / tile_side * line_step + lane * lane_step;
    const uint64_t step = lines * line_step;
    for (uint32_t line = thread / tile_side;;) {
        [[maybe_unused]] Word<width> words[elements_at_a_time];
#pragma unroll
        for (unsigned i = 0; i < elements_at_a_time; ++i, at += step) {
            const uint32_t on = line + i * lines;
            if (!usual && on >= tile_side) continue;
            if constexpr (in)
                words[i] = load<Word<width>>(at);
            else
                store<Word<width>>(at,
                                   by_columns ? tile.elements[lane][on] : tile.elements[on][lane]);
        }
        if constexpr (in) {
#pragma unroll
            for (unsigned i = 0; i < elements_at_a_time; ++i) {
                const uint32_t on = line + i * lines;
                if (!usual && on >= tile_side) continue;
                (by_columns ? tile.elements[lane][on] : tile.elements[on][lane]) = words[i];
            }
        }
        line += elements_at_a_time * lines;
        if (usual || line >= tile_side) return;
    }
}

// Moves the complete tile whose first element is at `typed` and `packed`. Neighbouring lanes follow
// rows in memory, where elements of rows are close, and columns in the stream.
template <Direction direction, unsigned width, bool usual, class Params, class Team>
UCD_GPU_FUNCTION void move_complete_tile(const Params &p, uintptr_t typed, uintptr_t packed,
                                         TileMemory<width> &tile, const Team &team) {
    constexpr bool pack = direction == Direction::pack;
    const uint32_t lines = team.threads() / tile_side;
    const auto row_stride = static_cast<uint64_t>(p.row_stride);
    const auto column_stride = static_cast<uint64_t>(p.column_stride);
    team.each([&](uint32_t thread) {
        if constexpr (pack)
            move_half<width, true, true, usual>(tile, thread, lines, typed, column_stride,
                                                row_stride);
        else
            move_half<width, true, false, usual>(tile, thread, lines, packed, p.row_bytes, width);
    });
    team.barrier();
    team.each([&](uint32_t thread) {
        if constexpr (pack)
            move_half<width, false, false, usual>(tile, thread, lines, packed, p.row_bytes, width);
        else
            move_half<width, false, true, usual>(tile, thread, lines, typed, column_stride,
                                                 row_stride);
    });
    team.barrier();
}

// Moves a tile at an edge of the matrix or of the range element by element, without shared memory.
template <Direction direction, unsigned width, class Params>
UCD_GPU_FUNCTION void move_elements(const Params &p, const Tile &t, uint32_t thread,
                                    uint32_t threads) {
    for (uint32_t i = thread; i < tile_side * tile_side; i += threads) {
        const uint32_t row = i / tile_side, column = i % tile_side;
        if (row >= t.rows || column >= t.columns) continue;
        const uint64_t position =
            t.position + row * p.row_bytes + static_cast<uint64_t>(column * width);
        const uintptr_t place = t.typed + row * static_cast<uint64_t>(p.row_stride) +
                                column * static_cast<uint64_t>(p.column_stride);
        if (position < p.begin || position + width > p.end)
            move_bytes_in_range<direction, width>(p, place, position);
        else if constexpr (direction == Direction::pack)
            store<Word<width>>(p.packed + position, load<Word<width>>(place));
        else
            store<Word<width>>(place, load<Word<width>>(p.packed + position));
    }
}

// Moves tile `index`. The threads of the team, a multiple of tile_side, call this together:
//
//     threads()   their number
//     each(body)  calls body(thread) for the calling thread, or for each thread of the team
//     barrier()   orders their accesses to shared memory
template <Direction direction, unsigned width, class Params, class Team>
UCD_GPU_FUNCTION void transpose_tile(const Params &p, uint32_t index, TileMemory<width> &tile,
                                     const Team &team) {
    const Tile t = tile_at(p, index, width);
    const uint64_t last =
        t.position + (t.rows - 1) * p.row_bytes + static_cast<uint64_t>(t.columns * width);
    if (t.rows < tile_side || t.columns < tile_side || t.position < p.begin || last > p.end) {
        team.each([&](uint32_t thread) {
            move_elements<direction, width>(p, t, thread, team.threads());
        });
        return;
    }
    const uintptr_t packed = p.packed + t.position;
    if (team.threads() == usual_lines * tile_side)
        move_complete_tile<direction, width, true>(p, t.typed, packed, tile, team);
    else
        move_complete_tile<direction, width, false>(p, t.typed, packed, tile, team);
}

} // namespace ucd::UCD_GPU
