// The bodies of the kernels that copy between nests in the order of the packed stream. For each
// tile, the threads of a block first find the addresses at which its rows begin, and then copy its
// words: finding an address takes much longer than copying a word, and a row usually has many
// words.
#pragma once

#include "kernels/copy_kernel.h"
#include "kernels/table_places.h"

namespace ucd::UCD_GPU {

// Each row of a tile has at least one of its words.
inline constexpr unsigned max_rows_of_tile = threads_per_block * copy_words_per_thread;

struct RowAddresses {
    uintptr_t from[max_rows_of_tile], to[max_rows_of_tile];
};

// The rows that have words of a tile.
struct TileRows {
    uint32_t first, count;
};

UCD_GPU_FUNCTION TileRows rows_of_tile(const CopyPlacesParams &p, uint32_t tile) {
    const uint32_t share = threads_per_block * p.per_thread;
    const uint32_t start = tile * share, left = p.words - start;
    const uint32_t last = start + (left < share ? left : share) - 1;
    const uint32_t first_row = quotient(start + p.before, p.row);
    return {first_row, quotient(last + p.before, p.row) - first_row + 1};
}

// Finds the addresses of the rows thread, thread + threads_per_block, and so on.
template <unsigned count>
UCD_GPU_FUNCTION void find_rows_of_thread(const CopyPlacesParams &p, const TileRows &rows,
                                          uint32_t thread, RowAddresses &addresses) {
    const TableInParams table{reinterpret_cast<const char *>(&p.table)};
    const TablePlaces<TableInParams> places(table, 0, sizeof p.table.shape);
    uint32_t from_position[count], to_position[count];
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
        // Rows beyond the last one have no place in lists.
        const uint32_t row = thread + i * threads_per_block;
        const uint32_t before = (rows.first + (row < rows.count ? row : 0)) * p.row_units;
        from_position[i] = p.first_from + before;
        to_position[i] = p.first_to + before;
    }
    uintptr_t from[count], to[count];
    places.find(places.at(0, p.from), from_position, from);
    places.find(places.at(1, p.to), to_position, to);
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
        const uint32_t row = thread + i * threads_per_block;
        if (row >= rows.count) continue;
        addresses.from[row] = from[i];
        addresses.to[row] = to[i];
    }
}

UCD_GPU_FUNCTION void find_rows(const CopyPlacesParams &p, const TileRows &rows, uint32_t thread,
                                RowAddresses &addresses) {
    if (rows.count > threads_per_block)
        find_rows_of_thread<copy_words_per_thread>(p, rows, thread, addresses);
    else if (thread < rows.count)
        find_rows_of_thread<1>(p, rows, thread, addresses);
}

// Calls at(from, to) with the addresses of `count` words that are threads_per_block apart.
template <unsigned count, class At>
UCD_GPU_FUNCTION void at_words_in_rows(const CopyPlacesParams &p, const TileRows &rows,
                                       const RowAddresses &addresses, uint32_t word,
                                       unsigned from_width, unsigned to_width, At at) {
    uintptr_t from[count], to[count];
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
        const uint32_t position = word + i * threads_per_block + p.before;
        const uint32_t row = quotient(position, p.row);
        const uint64_t column = position - row * p.row.value;
        from[i] = addresses.from[row - rows.first] + column * from_width;
        to[i] = addresses.to[row - rows.first] + column * to_width;
    }
    at(from, to);
}

// Calls at(from, to) with the addresses of all words of a tile, several words at once or one. All
// threads of a block call this.
template <class At>
UCD_GPU_FUNCTION void at_words_of_tile(const CopyPlacesParams &p, uint32_t tile,
                                       RowAddresses &addresses, unsigned from_width,
                                       unsigned to_width, At at) {
    const TileRows rows = rows_of_tile(p, tile);
    UCD_GPU_FOR_EACH_THREAD(thread) {
        find_rows(p, rows, thread, addresses);
    }
    UCD_GPU_BARRIER();
    UCD_GPU_FOR_EACH_THREAD(thread) {
        for_words_of_tile(p, tile, thread, [&](auto words, uint32_t word) {
            at_words_in_rows<decltype(words)::number>(p, rows, addresses, word, from_width,
                                                      to_width, at);
        });
    }
    UCD_GPU_BARRIER();
}

template <unsigned width>
struct CopyPlaces {
    using Params = CopyPlacesParams;
    UCD_GPU_FUNCTION static void run(const Params &p, uint32_t tile) {
        UCD_GPU_SHARED RowAddresses addresses;
        at_words_of_tile(p, tile, addresses, width, width,
                         [](const auto &from, const auto &to) { copy_words<width>(from, to); });
    }
};

} // namespace ucd::UCD_GPU
