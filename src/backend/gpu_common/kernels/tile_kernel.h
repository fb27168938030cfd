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
    uint32_t first_column, first_row; // of all; the first row wraps if `skipped` is not 0
    uint32_t columns, rows;           // that the tile has; fewer at the ends
    uint32_t skipped;                 // rows of these that are before all rows
};

inline constexpr uint32_t max_side_cells = 1u << (tile_cell_bits - min_side_bits); // cells

// The log2 of the most cells of a tile.
template <class T, bool windows>
inline constexpr uint32_t cell_bits = windows ? window_wide(sizeof(T), tuning.sector_bytes) +
                                                    window_high(sizeof(T), tuning.sector_bytes)
                                              : tile_cell_bits;

template <class To, class From, bool windows>
struct TileMemory {
    static constexpr uint32_t ends = in_cell<From> > in_cell<To> ? in_cell<From> : in_cell<To>;
    static constexpr uint32_t lines =
        ends * max_side_cells + (in_cell<From> + in_cell<To> - ends) * (1u << min_side_bits);

    // Column after column. A cell is left out after every in_cell<From> columns, so that threads
    // that store to such columns at the same time use different banks.
    Cell<To> cell[(in_cell<From> << cell_bits<To, windows>)+max_side_cells];
    // Of columns, and then of rows: the sum of a column's and a row's entry is an address.
    uintptr_t from[lines], to[lines];
};

// What a thread needs to know to move its part of a tile.
template <class To, class From, bool windows>
struct TileMove {
    static constexpr uint32_t wide = in_cell<From>, high = in_cell<To>; // elements of cells
    static constexpr uint32_t slack = windows ? tuning.sector_bytes / sizeof(To) : 0;

    const TilesParams &p;
    TileMemory<To, From, windows> &memory;
    const TileShape &t;

    // The log2 of the cells along either side.
    UCD_GPU_FUNCTION static uint32_t row_bits(const TilesParams &p) {
        return windows ? window_wide_bits : p.wide;
    }
    UCD_GPU_FUNCTION static uint32_t column_bits(const TilesParams &p) {
        return windows ? window_high_bits : tile_cell_bits - p.wide;
    }
    static constexpr uint32_t window_wide_bits = window_wide(sizeof(To), tuning.sector_bytes),
                              window_high_bits = window_high(sizeof(To), tuning.sector_bytes);

    // The most columns of a tile; the lines of rows come after them.
    UCD_GPU_FUNCTION uint32_t max_columns() const { return wide << row_bits(p); }
    UCD_GPU_FUNCTION uint32_t max_rows() const { return high << column_bits(p); }
    UCD_GPU_FUNCTION uintptr_t source(uint32_t column, uint32_t row) const {
        return memory.from[column] + memory.from[max_columns() + row];
    }
    UCD_GPU_FUNCTION uintptr_t target(uint32_t column, uint32_t row) const {
        return memory.to[column] + memory.to[max_columns() + row];
    }
    UCD_GPU_FUNCTION uint32_t place(uint32_t column, uint32_t row_cell) const {
        return (column << column_bits(p)) + column / wide + row_cell;
    }
    UCD_GPU_FUNCTION bool has_row(uint32_t row) const {
        return row < t.rows && (!windows || row >= t.skipped);
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
                if (!has_row(row)) continue;
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
        if (column >= t.columns || !has_row(row)) return;
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

    // Loads blocks of cells, and puts them into shared memory: load(column, row, cell) of several
    // blocks first, so that many loads are in flight. Each thread's blocks are in one column.
    template <uint32_t at_once, class Load>
    UCD_GPU_FUNCTION void for_blocks(uint32_t thread, Load load) const {
        constexpr uint32_t blocks = (1u << cell_bits<To, windows>) / threads_per_block;
        const uint32_t column = (thread & ((1u << row_bits(p)) - 1)) * wide;
        const uint32_t step = threads_per_block >> row_bits(p);
        uint32_t row_cell = thread >> row_bits(p);
#pragma unroll 1
        for (uint32_t k = 0; k < blocks; k += at_once, row_cell += at_once * step) {
            Cell<From> cell[at_once][high] = {};
#pragma unroll
            for (uint32_t i = 0; i < at_once; ++i)
#pragma unroll
                for (uint32_t row = 0; row < high; ++row)
                    load(column, (row_cell + i * step) * high + row, cell[i][row]);
#pragma unroll
            for (uint32_t i = 0; i < at_once; ++i) put_cells(cell[i], column, row_cell + i * step);
        }
    }
    UCD_GPU_FUNCTION void load_blocks(uint32_t thread, bool whole) const {
        constexpr uint32_t blocks = (1u << cell_bits<To, windows>) / threads_per_block;
        for_blocks<blocks / high>(thread, [&](uint32_t column, uint32_t row, Cell<From> &cell) {
            load_cell(column, row, cell, whole);
        });
    }

    // Whether the aligned words around all cells have no other bytes than elements of the source.
    UCD_GPU_FUNCTION bool is_inside() const {
        return p.source_runs == one_run && p.limited != limit_source && t.first_column > 0 &&
               t.first_column + max_columns() + wide <= p.columns && t.skipped == 0 &&
               t.rows == max_rows();
    }
    UCD_GPU_FUNCTION void load_inside(uint32_t thread) const {
        const uintptr_t from = memory.from[(thread & ((1u << row_bits(p)) - 1)) * wide];
        for_blocks<8 / high>(thread, [&](uint32_t, uint32_t row, Cell<From> &cell) {
            const uintptr_t at = from + memory.from[max_columns() + row];
            const uintptr_t low = at / cell_bytes * cell_bytes;
            cell.word = shifted(load<uint32_t>(low), load<uint32_t>(low + cell_bytes),
                                static_cast<uint32_t>(at % cell_bytes));
        });
    }
    UCD_GPU_FUNCTION void load_all(uint32_t thread) const {
        if (p.whole_cells & whole_in_source) return load_blocks(thread, true);
        if constexpr (windows && wide > 1) {
            if (is_inside()) return load_inside(thread);
        }
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

    // Stores a cell that begins where the line has an aligned word. It is in one or two cells of
    // shared memory. `inside` if the window has no other elements than those of the line.
    UCD_GPU_FUNCTION void store_window(uint32_t column, uint32_t row_cell, bool inside) const {
        constexpr uint32_t bytes = sizeof(Cell<To>), sector = slack * sizeof(To);
        const uintptr_t line = memory.to[column];
        const uint32_t before = static_cast<uint32_t>(line) % sector;
        const uint32_t byte = sector - before + row_cell * bytes; // in the shared line
        const uint32_t first = place(column, byte / bytes);
        Cell<To> cell = memory.cell[first];
        if constexpr (high > 1)
            cell.word = shifted(cell.word, memory.cell[first + 1].word, byte % bytes);
        const uint32_t row = byte / sizeof(To);
        bool whole = inside || (row >= t.skipped && row + high <= t.rows);
        for (uint32_t i = 0; !inside && p.limited != limit_nothing && i < high; ++i)
            whole = whole && is_moved(column, row + i);
        if (whole) {
            const uintptr_t window = line - before + uintptr_t{t.first_row + slack} * sizeof(To);
            return store<Word<bytes>>(window + uintptr_t{row_cell} * bytes, cell.word);
        }
#pragma unroll
        for (uint32_t i = 0; high > 1 && i < high; ++i)
            if (has_row(row + i) && is_moved(column, row + i))
                store<To>(target(column, row + i), cell.element[i]);
    }
    UCD_GPU_FUNCTION void store_windows(uint32_t thread) const {
        constexpr uint32_t step = threads_per_block >> window_high_bits;
        const uint32_t row_cell = thread % (1u << window_high_bits);
        if (row_cell * high >= max_rows() - slack) return;
        if (p.limited == limit_nothing && t.skipped == 0 && t.rows == max_rows()) {
#pragma unroll 4
            for (uint32_t column = thread >> window_high_bits; column < t.columns; column += step)
                store_window(column, row_cell, true);
            return;
        }
#pragma unroll 1
        for (uint32_t column = thread >> window_high_bits; column < t.columns; column += step)
            store_window(column, row_cell, false);
    }

    // Each thread's cells are in one row of cells.
    UCD_GPU_FUNCTION void store_all(uint32_t thread) const {
        if constexpr (windows) return store_windows(thread);
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
                                   uint32_t max_rows, uint32_t slack) {
    TileShape t;
    const uint32_t above = quotient(index, p.column_tiles);
    t.outer = quotient(above, p.row_tiles);
    t.first_column = (index - above * p.column_tiles.value) * max_columns;
    const uint32_t row_tile = above - t.outer * p.row_tiles.value;
    t.first_row = row_tile * (max_rows - slack) - slack;
    t.skipped = row_tile == 0 ? slack : 0;
    const uint32_t columns = p.columns - t.first_column, rows = p.rows - t.first_row;
    t.columns = columns < max_columns ? columns : max_columns;
    t.rows = rows < max_rows ? rows : max_rows;
    return t;
}

// Called by all threads of a block.
template <class To, class From, bool windows = false>
UCD_GPU_FUNCTION void move_tile(const TilesParams &p, uint32_t index) {
    UCD_GPU_SHARED TileMemory<To, From, windows> memory;
    using Move = TileMove<To, From, windows>;
    const TileShape t = tile_at(p, index, Move::wide << Move::row_bits(p),
                                Move::high << Move::column_bits(p), Move::slack);
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
