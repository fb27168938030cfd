// The bodies of the kernels that copy from layout to layout.
#pragma once

#include "kernels/copy_moves.h"
#include "kernels/member_tiles.h"
#include "kernels/table_places.h"
#include "kernels/transpose_kernel.h"
#include "params/copy.h"

namespace ucd::UCD_GPU {

template <unsigned count>
UCD_GPU_FUNCTION void find_on_both(const CopyLevel *level, uint32_t levels,
                                   uint32_t (&position)[count], uintptr_t (&from)[count],
                                   uintptr_t (&to)[count]) {
#pragma unroll 1
    for (uint32_t k = 0; k < levels; ++k) {
        const Divisor each = level[k].each;
        const auto from_step = static_cast<uint64_t>(level[k].from);
        const auto to_step = static_cast<uint64_t>(level[k].to);
#pragma unroll
        for (unsigned i = 0; i < count; ++i) {
            const uint32_t child = quotient(position[i], each);
            position[i] -= child * each.value;
            from[i] += child * from_step;
            to[i] += child * to_step;
        }
    }
}

// Copies the words of a tile: several(first) copies all words of a thread, which are
// threads_per_block apart; one(word) copies each word of a tile that is not full.
template <class Params, class Several, class One>
UCD_GPU_FUNCTION void for_words_of_tile(const Params &p, uint32_t tile, uint32_t thread,
                                        Several several, One one) {
    const uint32_t share = threads_per_block * p.per_thread;
    const uint32_t start = tile * share;
    if (p.per_thread > 1 && p.words - start >= share) return several(start + thread);
    for (uint32_t i = 0; i < p.per_thread; ++i) {
        const uint32_t word = start + i * threads_per_block + thread;
        if (word < p.words) one(word);
    }
}

template <unsigned width, unsigned count>
UCD_GPU_FUNCTION void copy_from_rows(const CopyRowsParams &p, uint32_t first) {
    uint32_t position[count];
    uintptr_t from[count], to[count];
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
        position[i] = first + i * threads_per_block;
        from[i] = p.from;
        to[i] = p.to;
    }
    find_on_both(p.level, p.levels, position, from, to);
    copy_words<width>(from, to);
}

template <unsigned width>
UCD_GPU_FUNCTION void copy_words_of_tile(const CopyRowsParams &p, uint32_t tile, uint32_t thread) {
    for_words_of_tile(
        p, tile, thread,
        [&](uint32_t word) { copy_from_rows<width, copy_words_per_thread>(p, word); },
        [&](uint32_t word) { copy_from_rows<width, 1>(p, word); });
}

template <unsigned width, unsigned count>
UCD_GPU_FUNCTION void copy_from_places(const CopyPlacesParams &p, uint32_t first) {
    const TableInParams table{reinterpret_cast<const char *>(&p.table)};
    const TablePlaces<TableInParams> places(table, 0, sizeof p.table.shape);
    uintptr_t from[count], to[count];
    places.find(places.at(0, p.from), p.first_from + first, threads_per_block, from);
    places.find(places.at(1, p.to), p.first_to + first, threads_per_block, to);
    copy_words<width>(from, to);
}

template <unsigned width>
UCD_GPU_FUNCTION void copy_words_of_tile(const CopyPlacesParams &p, uint32_t tile,
                                         uint32_t thread) {
    for_words_of_tile(
        p, tile, thread,
        [&](uint32_t word) { copy_from_places<width, copy_words_per_thread>(p, word); },
        [&](uint32_t word) { copy_from_places<width, 1>(p, word); });
}

// Kernels that copy words in the order that the parameters give: rows and places.
template <unsigned width, class Params>
UCD_GPU_FUNCTION void run_copy_words(const Params &p) {
    UCD_GPU_FOR_EACH_THREAD(thread) {
        for (uint32_t tile = UCD_GPU_BLOCK; tile < p.tiles; tile += UCD_GPU_BLOCKS)
            copy_words_of_tile<width>(p, tile, thread);
    }
}
template <unsigned width, class Params>
UCD_GPU_FUNCTION void run_copy_words_batch(const BatchParams &batch) {
    run_member_tiles<Params>(batch, [](const Params &p, uint32_t tile) {
        UCD_GPU_FOR_EACH_THREAD(thread) {
            copy_words_of_tile<width>(p, tile, thread);
        }
    });
}

struct CopyTile {
    uintptr_t from, to; // addresses of its first element
    uint32_t columns, rows;
};

UCD_GPU_FUNCTION CopyTile copy_tile_at(const CopyTilesParams &p, uint32_t index) {
    uint32_t outer[1];
    uintptr_t from[1] = {p.from}, to[1] = {p.to};
    const uint32_t above = quotient(index, p.column_tiles);
    const uint64_t column = uint64_t{index - above * p.column_tiles.value} * tile_side;
    outer[0] = quotient(above, p.row_tiles);
    const uint64_t row = uint64_t{above - outer[0] * p.row_tiles.value} * tile_side;
    find_on_both(p.level, p.levels, outer, from, to);
    const uint64_t columns = p.columns - column, rows = p.rows - row;
    return {from[0] + row * static_cast<uint64_t>(p.from_row) +
                column * static_cast<uint64_t>(p.from_column),
            to[0] + row * static_cast<uint64_t>(p.to_row) +
                column * static_cast<uint64_t>(p.to_column),
            columns < tile_side ? static_cast<uint32_t>(columns) : tile_side,
            rows < tile_side ? static_cast<uint32_t>(rows) : tile_side};
}

// Copies a tile at an edge, without shared memory.
template <unsigned width>
UCD_GPU_FUNCTION void copy_edge(const CopyTilesParams &p, const CopyTile &t, uint32_t thread) {
    for (uint32_t i = thread; i < tile_side * tile_side; i += threads_per_block) {
        const uint64_t column = i / tile_side, row = i % tile_side;
        if (row >= t.rows || column >= t.columns) continue;
        store<Word<width>>(t.to + row * static_cast<uint64_t>(p.to_row) +
                               column * static_cast<uint64_t>(p.to_column),
                           load<Word<width>>(t.from + row * static_cast<uint64_t>(p.from_row) +
                                             column * static_cast<uint64_t>(p.from_column)));
    }
}

// Called by all threads of a block.
template <unsigned width>
UCD_GPU_FUNCTION void copy_by_tile(const CopyTilesParams &p, uint32_t index) {
    UCD_GPU_SHARED TileMemory<width> tile;
    const CopyTile t = copy_tile_at(p, index);
    if (t.rows < tile_side || t.columns < tile_side) {
        UCD_GPU_FOR_EACH_THREAD(thread) {
            copy_edge<width>(p, t, thread);
        }
        return;
    }
    // On each side, neighbouring lanes take elements that are close in memory.
    UCD_GPU_FOR_EACH_THREAD(thread) {
        move_half<width, true, false>(tile, thread, lines_at_a_time, t.from,
                                      static_cast<uint64_t>(p.from_row),
                                      static_cast<uint64_t>(p.from_column));
    }
    UCD_GPU_BARRIER();
    UCD_GPU_FOR_EACH_THREAD(thread) {
        move_half<width, false, true>(tile, thread, lines_at_a_time, t.to,
                                      static_cast<uint64_t>(p.to_column),
                                      static_cast<uint64_t>(p.to_row));
    }
    UCD_GPU_BARRIER();
}

template <unsigned width>
UCD_GPU_FUNCTION void run_copy_tiles(const CopyTilesParams &p) {
    for (uint32_t index = UCD_GPU_BLOCK; index < p.tiles; index += UCD_GPU_BLOCKS)
        copy_by_tile<width>(p, index);
}
template <unsigned width>
UCD_GPU_FUNCTION void run_copy_tiles_batch(const BatchParams &batch) {
    run_member_tiles<CopyTilesParams>(
        batch, [](const CopyTilesParams &p, uint32_t index) { copy_by_tile<width>(p, index); });
}

// Copies the 16 bytes of the range that belong to thread `number`.
UCD_GPU_FUNCTION void copy_vector_by_interpreters(const CopyInterpretersParams &p,
                                                  uint64_t number) {
    const uint64_t first = number * vector_bytes;
    if (first >= p.bytes) return;
    const uint64_t end = first + vector_bytes < p.bytes ? first + vector_bytes : p.bytes;
    copy_stretches(
        first, end, p.shift, [&](uint64_t at) { return locate(p.from, p.first_from + at); },
        [&](uint64_t at) { return locate(p.to, p.first_to + at); });
}

UCD_GPU_FUNCTION void copy_all_by_interpreters(const CopyInterpretersParams &p) {
    UCD_GPU_FOR_EACH_THREAD(thread) {
        const uint64_t step = uint64_t{UCD_GPU_BLOCKS} * threads_per_block;
        for (uint64_t number = uint64_t{UCD_GPU_BLOCK} * threads_per_block + thread;
             number * vector_bytes < p.bytes; number += step)
            copy_vector_by_interpreters(p, number);
    }
}
UCD_GPU_FUNCTION void copy_batch_by_interpreters(const BatchParams &batch) {
    run_member_threads<CopyInterpretersParams>(
        batch, [](const CopyInterpretersParams &p, uint64_t number) {
            copy_vector_by_interpreters(p, number);
        });
}

} // namespace ucd::UCD_GPU
