// The body of the kernels that move tiles through shared memory, and convert elements on the way.
#pragma once

#include "kernels/convert_elements.h"
#include "kernels/find_on_both.h"
#include "kernels/words.h"
#include "params/tiles.h"

namespace ucd::UCD_GPU {

// The elements of a side that are loaded or stored together.
template <class T>
inline constexpr unsigned in_cell = sizeof(T) < cell_bytes ? cell_bytes / sizeof(T) : 1;
template <class T>
using Cell = WordOfElements<T, in_cell<T>>;

struct TileShape {
    uint32_t outer;                   // number of the iteration of the levels around
    uint32_t first_column, first_row; // of all
    uint32_t columns, rows;           // that the tile has; fewer at the ends
};

inline constexpr uint32_t max_side_cells = 1u << (tile_cell_bits - min_side_bits); // cells

template <class To, class From>
struct TileMemory {
    static constexpr uint32_t ends = in_cell<From> > in_cell<To> ? in_cell<From> : in_cell<To>;
    static constexpr uint32_t lines =
        ends * max_side_cells + (in_cell<From> + in_cell<To> - ends) * (1u << min_side_bits);

    // Column after column. A cell is left out after every in_cell<From> columns, so that threads
    // that store to such columns at the same time use different banks.
    Cell<To> cell[(in_cell<From> << tile_cell_bits) + max_side_cells];
    // Of columns, and then of rows: the sum of a column's and a row's entry is an address.
    uintptr_t from[lines], to[lines];
};

// What a thread needs to know to move its part of a tile.
template <class To, class From>
struct TileMove {
    static constexpr uint32_t wide = in_cell<From>, high = in_cell<To>; // elements of cells

    const TilesParams &p;
    TileMemory<To, From> &memory;
    const TileShape &t;

    // The most columns of a tile; the lines of rows come after them.
    UCD_GPU_FUNCTION uint32_t max_columns() const { return wide << p.wide; }
    UCD_GPU_FUNCTION uint32_t max_rows() const { return high << (tile_cell_bits - p.wide); }
    UCD_GPU_FUNCTION uintptr_t source(uint32_t column, uint32_t row) const {
        return memory.from[column] + memory.from[max_columns() + row];
    }
    UCD_GPU_FUNCTION uintptr_t target(uint32_t column, uint32_t row) const {
        return memory.to[column] + memory.to[max_columns() + row];
    }
    UCD_GPU_FUNCTION uint32_t place(uint32_t column, uint32_t row_cell) const {
        return (column << (tile_cell_bits - p.wide)) + column / wide + row_cell;
    }
    UCD_GPU_FUNCTION bool is_in_range(uintptr_t at, uint32_t bytes) const {
        const uintptr_t before = at - p.begin; // wraps for what is before the range
        return before < p.bytes && bytes <= p.bytes - before;
    }
    UCD_GPU_FUNCTION bool is_moved(uint32_t column, uint32_t row) const {
        if (p.limited == limit_nothing) return true;
        return p.limited == limit_source ? is_in_range(source(column, row), sizeof(From))
                                         : is_in_range(target(column, row), sizeof(To));
    }

    UCD_GPU_FUNCTION void find_lines(uint32_t thread) const {
        for (uint32_t i = thread; i < max_columns() + max_rows(); i += threads_per_block) {
            const bool is_column = i < max_columns();
            const CopyLevel *const rows = p.level + p.column_levels;
            uintptr_t from[1] = {0}, to[1] = {0};
            if (is_column) {
                if (i >= t.columns) continue;
                uint32_t outer[1] = {t.outer}, position[1] = {t.first_column + i};
                from[0] = p.from;
                to[0] = p.to;
                find_on_both(rows + p.row_levels, p.outer_levels, outer, from, to);
                find_on_both(p.level, p.column_levels, position, from, to);
            } else {
                const uint32_t row = i - max_columns();
                if (row >= t.rows) continue;
                uint32_t position[1] = {t.first_row + row};
                find_on_both(rows, p.row_levels, position, from, to);
            }
            memory.from[i] = from[0];
            memory.to[i] = to[0];
        }
    }

    // Several elements of one or two bytes, of which the first is of that column.
    UCD_GPU_FUNCTION void load_small(uint32_t column, uint32_t row, Cell<From> &cell) const {
        const uintptr_t at = source(column, row);
        const uint32_t before = at % cell_bytes; // bytes since the last aligned word
        const bool limited = p.limited == limit_source;
        if (p.source_runs != no_runs && column + wide <= t.columns) {
            if (before == 0 && (!limited || is_in_range(at, cell_bytes))) {
                cell.word = load<uint32_t>(at);
                return;
            }
            // The two aligned words around it, if they have no other bytes than elements of the
            // run.
            const uint32_t number = t.first_column + column;
            const uintptr_t low = at - before;
            if (p.source_runs == one_run && before != 0 && number * sizeof(From) >= before &&
                number + wide + (cell_bytes - before) / sizeof(From) <= p.columns &&
                (!limited || is_in_range(low, 2 * cell_bytes))) {
                cell.word = load<uint32_t>(low) >> (8 * before) |
                            load<uint32_t>(low + cell_bytes) << (8 * (cell_bytes - before));
                return;
            }
        }
#pragma unroll
        for (uint32_t i = 0; i < wide; ++i) {
            if (column + i >= t.columns) return;
            const uintptr_t place = source(column + i, row);
            if (!limited || is_in_range(place, sizeof(From))) cell.element[i] = load<From>(place);
        }
    }

    // All elements of the cell are in one aligned word, if `p.whole_cells` says so of the source.
    UCD_GPU_FUNCTION void load_cell(uint32_t column, uint32_t row, Cell<From> &cell,
                                    bool whole) const {
        if (column >= t.columns || row >= t.rows) return;
        const uintptr_t at = source(column, row);
        if (whole)
            cell.word = load<Word<sizeof(cell.word)>>(at);
        else if constexpr (wide > 1)
            load_small(column, row, cell);
        else if (p.limited != limit_source || is_in_range(at, sizeof(From)))
            cell.element[0] = load<From>(at);
    }

    // The cells of `high` rows become cells of the target: elements of a column.
    UCD_GPU_FUNCTION void put_cells(const Cell<From> (&cell)[high], uint32_t column,
                                    uint32_t row_cell) const {
#pragma unroll
        for (uint32_t c = 0; c < wide; ++c) {
            Cell<To> out;
            if constexpr (is_same<To, From>) {
#pragma unroll
                for (uint32_t row = 0; row < high; ++row) out.element[row] = cell[row].element[c];
            } else {
                From in[high];
#pragma unroll
                for (uint32_t row = 0; row < high; ++row) in[row] = cell[row].element[c];
                convert_elements(in, out.element, limit_of<To>(p.saturate != 0));
            }
            memory.cell[place(column + c, row_cell)].word = out.word;
        }
    }

    // Loads blocks of cells, and puts them into shared memory. Each thread's are in one column.
    UCD_GPU_FUNCTION void load_blocks(uint32_t thread, bool whole) const {
        constexpr uint32_t blocks = (1u << tile_cell_bits) / threads_per_block;
        constexpr uint32_t at_once = blocks / high; // so that as many loads are in flight
        const uint32_t column = (thread & ((1u << p.wide) - 1)) * wide;
        const uint32_t step = threads_per_block >> p.wide;
        uint32_t row_cell = thread >> p.wide;
#pragma unroll 1
        for (uint32_t k = 0; k < blocks; k += at_once, row_cell += at_once * step) {
            Cell<From> cell[at_once][high] = {};
#pragma unroll
            for (uint32_t i = 0; i < at_once; ++i)
#pragma unroll
                for (uint32_t row = 0; row < high; ++row)
                    load_cell(column, (row_cell + i * step) * high + row, cell[i][row], whole);
#pragma unroll
            for (uint32_t i = 0; i < at_once; ++i) put_cells(cell[i], column, row_cell + i * step);
        }
    }
    UCD_GPU_FUNCTION void load_all(uint32_t thread) const {
        if (p.whole_cells & whole_in_source)
            load_blocks(thread, true);
        else
            load_blocks(thread, false);
    }

    // Several elements of one or two bytes, of which the first is of that row.
    UCD_GPU_FUNCTION void store_small(uint32_t column, uint32_t row_cell) const {
        const uint32_t row = row_cell * high;
        const Cell<To> cell = memory.cell[place(column, row_cell)];
        const uintptr_t at = target(column, row);
        bool whole = p.target_runs != no_runs && at % cell_bytes == 0 && row + high <= t.rows;
        for (uint32_t i = 0; p.limited != limit_nothing && i < high; ++i)
            whole = whole && is_moved(column, row + i);
        if (whole) return store<uint32_t>(at, cell.word);
#pragma unroll
        for (uint32_t i = 0; i < high; ++i)
            if (row + i < t.rows && is_moved(column, row + i))
                store<To>(target(column, row + i), cell.element[i]);
    }

    // Each thread's cells are in one row of cells.
    UCD_GPU_FUNCTION void store_all(uint32_t thread) const {
        const uint32_t row_bits = tile_cell_bits - p.wide;
        const uint32_t row_cell = thread & ((1u << row_bits) - 1), row = row_cell * high;
        const uint32_t step = threads_per_block >> row_bits;
        if (row >= t.rows) return;
        if (p.whole_cells & whole_in_target) {
            const uintptr_t to_row = memory.to[max_columns() + row];
#pragma unroll 4
            for (uint32_t column = thread >> row_bits; column < t.columns; column += step) {
                const Cell<To> cell = memory.cell[place(column, row_cell)];
                store<Word<sizeof(cell.word)>>(to_row + memory.to[column], cell.word);
            }
            return;
        }
#pragma unroll 1
        for (uint32_t column = thread >> row_bits; column < t.columns; column += step) {
            if constexpr (high > 1)
                store_small(column, row_cell);
            else if (is_moved(column, row))
                store<To>(target(column, row), memory.cell[place(column, row)].element[0]);
        }
    }
};

UCD_GPU_FUNCTION TileShape tile_at(const TilesParams &p, uint32_t index, uint32_t max_columns,
                                   uint32_t max_rows) {
    TileShape t;
    const uint32_t above = quotient(index, p.column_tiles);
    t.outer = quotient(above, p.row_tiles);
    t.first_column = (index - above * p.column_tiles.value) * max_columns;
    t.first_row = (above - t.outer * p.row_tiles.value) * max_rows;
    const uint32_t columns = p.columns - t.first_column, rows = p.rows - t.first_row;
    t.columns = columns < max_columns ? columns : max_columns;
    t.rows = rows < max_rows ? rows : max_rows;
    return t;
}

// Called by all threads of a block.
template <class To, class From>
UCD_GPU_FUNCTION void move_tile(const TilesParams &p, uint32_t index) {
    UCD_GPU_SHARED TileMemory<To, From> memory;
    using Move = TileMove<To, From>;
    const TileShape t =
        tile_at(p, index, Move::wide << p.wide, Move::high << (tile_cell_bits - p.wide));
    const Move move{p, memory, t};
    UCD_GPU_FOR_EACH_THREAD(thread) {
        move.find_lines(thread);
    }
    UCD_GPU_BARRIER();
    UCD_GPU_FOR_EACH_THREAD(thread) {
        move.load_all(thread);
    }
    UCD_GPU_BARRIER();
    UCD_GPU_FOR_EACH_THREAD(thread) {
        move.store_all(thread);
    }
    UCD_GPU_BARRIER();
}

template <class To, class From>
UCD_GPU_FUNCTION void run_tiles(const TilesParams &p) {
    for (uint32_t index = UCD_GPU_BLOCK; index < p.tiles; index += UCD_GPU_BLOCKS)
        move_tile<To, From>(p, index);
}

} // namespace ucd::UCD_GPU
