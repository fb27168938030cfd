// Moves matrices in tiles: where the row stride is one block, in whole vectors that are transposed
// in registers; otherwise, and at the edges, block by block.
#pragma once

#include "leaves.h"
#include "transpose.h"

#include <utility>

#if defined(UCD_SEQ_HAS_AVX512F)
#include <immintrin.h>
#endif

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {

// The width of vectors that transposes blocks of `width` bytes fastest.
// performance only: tiles of any such vectors bring the same
constexpr unsigned vector_bytes(unsigned width) {
#if defined(UCD_SEQ_HAS_AVX512F)
    return width >= 4 ? 64 : 32;
#elif defined(UCD_SEQ_HAS_AVX2)
    return width >= 4 ? 32 : 16;
#else
    return width < 16 ? 16 : width;
#endif
}

// `side` vectors of `side` blocks each.
template <unsigned width>
struct Tile {
    static constexpr unsigned bytes = vector_bytes(width), side = bytes / width;
    static constexpr unsigned lane = width < 8 ? width : 8;
    static constexpr unsigned lanes = bytes / lane, per_block = width / lane;
    typedef typename Word<lane>::type Vector __attribute__((vector_size(bytes)));

    // Takes blocks of a and b in turn, from the lower or the upper halves.
    template <unsigned half, int... k>
    UCD_SEQ_INLINE static void interleave(const Vector &a, const Vector &b, Vector &result,
                                          std::integer_sequence<int, k...>) {
        result = __builtin_shufflevector(
            a, b,
            static_cast<int>((k / per_block % 2) * lanes +
                             (k / per_block / 2 + half * side / 2) * per_block + k % per_block)...);
    }

    // Interleaving the rows of one half with those of the other half, once for each doubling of the
    // side, transposes the tile.
    template <unsigned doublings = side>
    UCD_SEQ_INLINE static void transpose(Vector (&rows)[side]) {
        if constexpr (doublings > 1) {
            Vector next[side];
            constexpr auto all = std::make_integer_sequence<int, lanes>();
#pragma GCC unroll 32
            for (unsigned i = 0; i < side / 2; ++i) {
                interleave<0>(rows[i], rows[i + side / 2], next[2 * i], all);
                interleave<1>(rows[i], rows[i + side / 2], next[2 * i + 1], all);
            }
            transpose<doublings / 2>(next);
#pragma GCC unroll 32
            for (unsigned i = 0; i < side; ++i) rows[i] = next[i];
        }
    }

    template <bool past_caches>
    UCD_SEQ_INLINE static void move(uintptr_t from, uintptr_t from_line, uintptr_t to,
                                    uintptr_t to_line) {
        Vector rows[side];
#pragma GCC unroll 32
        for (unsigned k = 0; k < side; ++k)
            __builtin_memcpy(&rows[k], pointer(from + k * from_line), bytes);
        transpose(rows);
#pragma GCC unroll 32
        for (unsigned k = 0; k < side; ++k) {
#if defined(UCD_SEQ_HAS_AVX512F)
            if constexpr (past_caches && bytes == 64) {
                __m512i line;
                __builtin_memcpy(&line, &rows[k], bytes);
                _mm512_stream_si512(reinterpret_cast<__m512i *>(to + k * to_line), line);
                continue;
            }
#endif
            __builtin_memcpy(pointer(to + k * to_line), &rows[k], bytes);
        }
    }
};

UCD_SEQ_INLINE uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// Moves a matrix block by block.
template <class Leaf>
UCD_SEQ_ONE_COPY void move_entries(const Matrix &m, uintptr_t typed, uintptr_t packed) {
    // A tile is one cache line wide on the packed side, and one high on the typed side.
    const Leaf leaf(m.block);
    const uint64_t side = m.block < 8 ? 64 / m.block : 8;
    const auto row_stride = static_cast<uintptr_t>(m.row_stride);
    const auto column_stride = static_cast<uintptr_t>(m.column_stride);
    for (uint64_t i = 0; i < m.rows; i += side) {
        const uint64_t end_i = lesser(i + side, m.rows);
        for (uint64_t j = 0; j < m.columns; j += side) {
            const uint64_t end_j = lesser(j + side, m.columns);
            for (uint64_t column = j; column < end_j; ++column)
                for (uint64_t row = i; row < end_i; ++row)
                    leaf.move(typed + row * row_stride + column * column_stride,
                              pointer(packed + row * m.packed_row + column * m.block));
        }
    }
}

// Moves the given number of rows and columns, beginning at (i, j).
template <class Leaf>
UCD_SEQ_INLINE void move_edge(const Matrix &m, uint64_t i, uint64_t j, uint64_t rows,
                              uint64_t columns, uintptr_t typed, uintptr_t packed) {
    if (rows == 0 || columns == 0) return;
    Matrix edge = m;
    edge.rows = rows;
    edge.columns = columns;
    move_entries<Leaf>(edge,
                       typed + i * static_cast<uintptr_t>(m.row_stride) +
                           j * static_cast<uintptr_t>(m.column_stride),
                       packed + i * m.packed_row + j * m.block);
}

// The lines of one side are the columns of the other side. A line is a packed row or a column of
// the layout; its blocks are contiguous.
struct Lines {
    uintptr_t at, line;
};

// Calls move() for blocks of several tiles in each dimension: if a tile uses a part of a cache
// line, the line is still in the cache when the next tile uses another part.
template <unsigned side, class Move>
UCD_SEQ_INLINE void in_blocks(uint64_t outer, uint64_t inner, uint64_t block, const Move &move) {
    for (uint64_t o = 0; o < outer; o += block) {
        const uint64_t outer_end = lesser(o + block, outer);
        for (uint64_t i = 0; i < inner; i += block) {
            const uint64_t inner_end = lesser(i + block, inner);
            for (uint64_t a = o; a < outer_end; a += side)
                for (uint64_t b = i; b < inner_end; b += side) move(a, b);
        }
    }
}

// Goes along the written lines, because they need room in the caches, too.
template <unsigned width>
void move_tiles(Lines from, Lines to, uint64_t from_lines, uint64_t to_lines) {
    in_blocks<Tile<width>::side>(to_lines, from_lines, 64, [&](uint64_t t, uint64_t f) {
        Tile<width>::template move<false>(from.at + f * from.line + t * width, from.line,
                                          to.at + t * to.line + f * width, to.line);
    });
}

#if defined(UCD_SEQ_HAS_AVX512F)

// For matrices that exceed the caches: tiles that fill cache lines, written with non-temporal
// stores.
template <unsigned width>
void stream_tiles(Lines from, Lines to, uint64_t from_lines, uint64_t to_lines) {
    in_blocks<Tile<width>::side>(from_lines, to_lines, 32, [&](uint64_t f, uint64_t t) {
        Tile<width>::template move<true>(from.at + f * from.line + t * width, from.line,
                                         to.at + t * to.line + f * width, to.line);
    });
    _mm_sfence();
}

#endif

// Reads and writes each cache line once as a whole. For strides with which tiles of partial lines
// would need more lines of one cache set than it has ways.
template <unsigned width>
void move_whole_lines(Lines from, Lines to, uint64_t from_lines, uint64_t to_lines) {
    constexpr unsigned line = 64, blocks = line / width;
    alignas(line) char in[blocks][line], out[blocks][line];
    for (uint64_t b = 0; b < to_lines; b += blocks)
        for (uint64_t a = 0; a < from_lines; a += blocks) {
            const uint64_t from_here = lesser(blocks, from_lines - a);
            const uint64_t to_here = lesser(blocks, to_lines - b);
            for (uint64_t k = 0; k < from_here; ++k) {
                const char *const at = pointer(from.at + (a + k) * from.line + b * width);
                if (to_here == blocks)
                    copy<line>(in[k], at);
                else
                    __builtin_memcpy(in[k], at, to_here * width);
            }
            move_tiles<width>({reinterpret_cast<uintptr_t>(in), line},
                              {reinterpret_cast<uintptr_t>(out), line}, from_here, to_here);
            for (uint64_t k = 0; k < to_here; ++k) {
                char *const at = pointer(to.at + (b + k) * to.line + a * width);
                if (from_here == blocks)
                    copy<line>(at, out[k]);
                else
                    __builtin_memcpy(at, out[k], from_here * width);
            }
        }
}

// Moves whole tiles only.
template <unsigned width>
void move_lines(Lines from, Lines to, uint64_t from_lines, uint64_t to_lines) {
#if defined(UCD_SEQ_HAS_AVX512F)
    constexpr uint64_t caches = uint64_t{6} << 20;
    if (width >= 8 && from_lines * to_lines * width >= caches && (to.at | to.line) % 64 == 0)
        return stream_tiles<width>(from, to, from_lines, to_lines);
#endif
    // performance only: both move the same tiles
    if (width <= 2 && (from.line % 2048 == 0 || to.line % 2048 == 0))
        return move_whole_lines<width>(from, to, from_lines, to_lines);
    move_tiles<width>(from, to, from_lines, to_lines);
}

template <class Leaf>
void move_transposed(const Matrix &m, char *typed_bytes, char *packed_bytes) {
    const uintptr_t typed = reinterpret_cast<uintptr_t>(typed_bytes);
    const uintptr_t packed = reinterpret_cast<uintptr_t>(packed_bytes);
    if constexpr (Leaf::exact) {
        constexpr unsigned width = Leaf::width;
        if constexpr (Tile<width>::side > 1)
            if (m.row_stride == static_cast<int64_t>(width)) {
                constexpr unsigned side = Tile<width>::side;
                const uint64_t rows = m.rows / side * side, columns = m.columns / side * side;
                const Lines columns_of_layout{typed, static_cast<uintptr_t>(m.column_stride)};
                const Lines packed_rows{packed, m.packed_row};
                if constexpr (Leaf::direction == Direction::pack)
                    move_lines<width>(columns_of_layout, packed_rows, columns, rows);
                else
                    move_lines<width>(packed_rows, columns_of_layout, rows, columns);
                move_edge<Leaf>(m, rows, 0, m.rows - rows, m.columns, typed, packed);
                move_edge<Leaf>(m, 0, columns, rows, m.columns - columns, typed, packed);
                return;
            }
    }
    move_entries<Leaf>(m, typed, packed);
}

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
