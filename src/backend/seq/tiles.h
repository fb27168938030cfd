// Transposes matrices in tiles: where the entries of a line are contiguous on both sides, in whole
// vectors that are transposed in registers; otherwise entry by entry.
#pragma once

#include "cpu_tuning.h"
#include "interleave.h"
#include "shuffle.h"
#include "transpose.h"

#include <utility>

#if defined(UCD_SEQ_HAS_AVX2)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
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

constexpr unsigned line_bytes = 64;

// `side` vectors of `side` blocks each.
template <unsigned width, unsigned bytes_ = vector_bytes(width)>
struct Tile {
    static constexpr unsigned bytes = bytes_, side = bytes / width;
    static constexpr unsigned lane = width < 8 ? width : 8;
    static constexpr unsigned lanes = bytes / lane, per_block = width / lane;
    typedef typename Word<lane>::type Vector __attribute__((vector_size(bytes)));

    // Takes blocks of a and b in turn, from the lower or the upper halves.
    template <unsigned half, int... k>
    UCD_SEQ_INLINE static void interleave(const Vector &a, const Vector &b, Vector &result,
                                          std::integer_sequence<int, k...>) {
        shuffle<((k / per_block % 2) * lanes + (k / per_block / 2 + half * side / 2) * per_block +
                 k % per_block)...>(a, b, result);
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

    // Reads one vector from each address from(k), and writes one to each address to(k).
    template <class From, class To>
    UCD_SEQ_INLINE static void move(const From &from, const To &to) {
        Vector rows[side];
#pragma GCC unroll 32
        for (unsigned k = 0; k < side; ++k) __builtin_memcpy(&rows[k], pointer(from(k)), bytes);
        transpose(rows);
#pragma GCC unroll 32
        for (unsigned k = 0; k < side; ++k) __builtin_memcpy(pointer(to(k)), &rows[k], bytes);
    }
};

UCD_SEQ_INLINE uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

UCD_SEQ_INLINE uintptr_t displaced(uintptr_t at, int64_t displacement) {
    return at + static_cast<uintptr_t>(displacement);
}

// The lines [from, from_end) and [to, to_end) of a matrix.
struct TilePart {
    uint64_t from, from_end, to, to_end;
};

// Moves a matrix entry by entry.
template <class Leaf>
UCD_SEQ_ONE_COPY void move_entries(const Matrix &m) {
    // A tile is one cache line wide on either side.
    const Leaf leaf(m.block);
    const uint64_t side = m.block < 8 ? line_bytes / m.block : 8;
    const auto from_step = static_cast<uintptr_t>(m.from_step);
    const auto to_step = static_cast<uintptr_t>(m.to_step);
    for (uint64_t f = 0; f < m.from_count; f += side) {
        const uint64_t end_f = lesser(f + side, m.from_count);
        for (uint64_t t = 0; t < m.to_count; t += side) {
            const uint64_t end_t = lesser(t + side, m.to_count);
            for (uint64_t j = t; j < end_t; ++j) {
                const uintptr_t to = displaced(m.to, m.to_lines[j]);
                for (uint64_t i = f; i < end_f; ++i)
                    leaf.move(displaced(m.from, m.from_lines[i]) + j * from_step,
                              pointer(to + i * to_step));
            }
        }
    }
}

UCD_SEQ_INLINE void prefetch(uintptr_t at) {
    __builtin_prefetch(pointer(at));
}

// The cache lines that the tile beside this one reads, and those that the one below it writes. Both
// come from memory, and no processor guesses so many addresses.
// performance only: the same is moved, whatever is prefetched
template <unsigned side>
UCD_SEQ_INLINE void prefetch_next(const Matrix &m, const TilePart &part, uint64_t f, uint64_t t,
                                  unsigned width) {
#pragma GCC unroll 4
    for (unsigned k = 0; k < side; ++k)
        prefetch(displaced(m.from + t * width, m.from_lines[f + k]) + line_bytes);
    if (t + uint64_t{2} * side <= part.to_end)
#pragma GCC unroll 4
        for (unsigned k = 0; k < side; ++k)
            __builtin_prefetch(pointer(displaced(m.to + f * width, m.to_lines[t + side + k])), 1);
}

// Whether lines are equally far apart, and how far.
UCD_SEQ_INLINE bool are_strided(const int64_t *lines, uint64_t count, uintptr_t &stride) {
    stride = static_cast<uintptr_t>(lines[1]) - static_cast<uintptr_t>(lines[0]);
    uintptr_t differences = 0;
    for (uint64_t k = 1; k < count; ++k)
        differences |=
            (static_cast<uintptr_t>(lines[k]) - static_cast<uintptr_t>(lines[k - 1])) ^ stride;
    return differences == 0;
}

// Moves a part in tiles: tile(f, t) moves the one at line f of the source and line t of the target.
// The last tiles overlap those before them, so that all are whole.
template <uint64_t side, class MoveTile>
UCD_SEQ_INLINE void for_each_tile(const TilePart &part, const MoveTile &tile) {
    // Several tiles in each dimension form a block: if a tile uses a part of a cache line, the line
    // is still in the cache when the next tile uses another part. Goes along the written lines,
    // because they need room in the caches, too.
    constexpr uint64_t block = 64;
    for (uint64_t o = part.to; o < part.to_end; o += block) {
        const uint64_t to_end = lesser(o + block, part.to_end);
        for (uint64_t i = part.from; i < part.from_end; i += block) {
            const uint64_t from_end = lesser(i + block, part.from_end);
            for (uint64_t a = o; a < to_end; a += side) {
                const uint64_t t = lesser(a, part.to_end - side);
                for (uint64_t b = i; b < from_end; b += side)
                    tile(lesser(b, part.from_end - side), t);
            }
        }
    }
}

// Moves a part in tiles; one that is narrower than a tile begins earlier. The matrix has at least
// as many lines as a tile.
template <unsigned width, unsigned bytes>
UCD_SEQ_ONE_COPY void move_tiles(const Matrix &m, TilePart part) {
    using Tile = Tile<width, bytes>;
    constexpr uint64_t side = Tile::side;
    if (part.from >= part.from_end || part.to >= part.to_end) return;
    if (part.from_end - part.from < side)
        part.from_end < side                        ? part.from = 0,
                               part.from_end = side : part.from = part.from_end - side;
    if (part.to_end - part.to < side)
        part.to_end < side ? part.to = 0, part.to_end = side : part.to = part.to_end - side;
    // Addresses that are computed from strides need no loads. Tiles of single bytes have too many.
    constexpr bool few_addresses = width > 1;
    if (few_addresses && !m.past_caches) { // performance only: both ways give the same addresses
        uintptr_t from_stride, to_stride;
        if (are_strided(m.from_lines, m.from_count, from_stride) &&
            are_strided(m.to_lines, m.to_count, to_stride)) {
            const uintptr_t from = displaced(m.from, m.from_lines[0]);
            const uintptr_t to = displaced(m.to, m.to_lines[0]);
            return for_each_tile<side>(part, [&](uint64_t f, uint64_t t) {
                const uintptr_t from_tile = from + f * from_stride + t * width;
                const uintptr_t to_tile = to + t * to_stride + f * width;
                Tile::move([&](unsigned k) { return from_tile + k * from_stride; },
                           [&](unsigned k) { return to_tile + k * to_stride; });
            });
        }
    }
    for_each_tile<side>(part, [&](uint64_t f, uint64_t t) {
        const int64_t *const from_lines = m.from_lines + f;
        const int64_t *const to_lines = m.to_lines + t;
        const uintptr_t from = m.from + t * width, to = m.to + f * width;
        if (m.past_caches) prefetch_next<side>(m, part, f, t, width);
        Tile::move([&](unsigned k) { return displaced(from, from_lines[k]); },
                   [&](unsigned k) { return displaced(to, to_lines[k]); });
    });
}

// Writes whole cache lines, past the caches if `past_caches`.
template <bool past_caches>
UCD_SEQ_INLINE void store_line(uintptr_t to, const char *line) {
#if defined(UCD_SEQ_HAS_AVX512F)
    if constexpr (past_caches)
        return _mm512_stream_si512(reinterpret_cast<__m512i *>(to),
                                   _mm512_load_si512(reinterpret_cast<const __m512i *>(line)));
#elif defined(UCD_SEQ_HAS_AVX2)
    if constexpr (past_caches) {
        for (unsigned k = 0; k < line_bytes; k += 32)
            _mm256_stream_si256(reinterpret_cast<__m256i *>(to + k),
                                _mm256_load_si256(reinterpret_cast<const __m256i *>(line + k)));
        return;
    }
#elif defined(__SSE2__)
    if constexpr (past_caches) {
        for (unsigned k = 0; k < line_bytes; k += 16)
            _mm_stream_si128(reinterpret_cast<__m128i *>(to + k),
                             _mm_load_si128(reinterpret_cast<const __m128i *>(line + k)));
        return;
    }
#endif
    copy<line_bytes>(pointer(to), line);
}

// Moves a part whose numbers of lines are multiples of the blocks in a cache line, through a buffer
// of whole cache lines. Each line of either side is touched once, and several neighbouring ones
// at a time.
template <unsigned width, bool past_caches>
UCD_SEQ_ONE_COPY void move_whole_lines(const Matrix &m, const TilePart &part) {
    using Tile = Tile<width>;
    constexpr uint64_t blocks = line_bytes / width;
    constexpr unsigned side = Tile::side;
    constexpr unsigned from_lines = 2, to_lines = 1; // cache lines, in the buffer
    alignas(line_bytes) char buffer[to_lines * blocks][from_lines * line_bytes];
    for (uint64_t f = part.from; f < part.from_end; f += from_lines * blocks) {
        const auto width_here =
            static_cast<unsigned>(lesser(from_lines * blocks, part.from_end - f));
        for (uint64_t t = part.to; t < part.to_end; t += to_lines * blocks) {
            const auto height = static_cast<unsigned>(lesser(to_lines * blocks, part.to_end - t));
            const uintptr_t from = m.from + t * width;
            for (unsigned i = 0; i < width_here; i += side) {
                const int64_t *const lines = m.from_lines + f + i;
#pragma GCC unroll 4
                // performance only: the same is moved, whatever is prefetched
                for (unsigned k = 0; k < side; ++k)
                    prefetch(displaced(from, lines[k]) + uint64_t{to_lines + 1} * line_bytes - 1);
                for (unsigned j = 0; j < height; j += side)
                    Tile::move(
                        [&](unsigned k) { return displaced(from, lines[k]) + uint64_t{j} * width; },
                        [&](unsigned k) {
                            return reinterpret_cast<uintptr_t>(buffer[j + k] + i * width);
                        });
            }
            for (unsigned j = 0; j < height; ++j) {
                const uintptr_t to = displaced(m.to + f * width, m.to_lines[t + j]);
                for (unsigned k = 0; k < width_here * width; k += line_bytes)
                    store_line<past_caches>(to + k, buffer[j] + k);
            }
        }
    }
#if defined(__SSE2__)
    if constexpr (past_caches) _mm_sfence();
#endif
}

// Prefetches `bytes` bytes from `at` on of the lines [begin, end) of the source. If they begin
// anywhere in cache lines, each piece of a cache line's length ends in the next one; that in which
// it begins was read with the piece before.
// performance only: the same is moved, whatever is prefetched
UCD_SEQ_INLINE void prefetch_lines(const Matrix &m, uint64_t begin, uint64_t end, uintptr_t at,
                                   uint64_t bytes) {
    for (uint64_t k = begin; k < end; ++k)
        for (uint64_t byte = 0; byte < bytes; byte += line_bytes)
            prefetch(displaced(at, m.from_lines[k]) + lesser(byte + line_bytes, bytes) - 1);
}

// Lines of the target that are written in whole cache lines, past the caches, wherever they begin
// in cache lines. Each has a row of the buffer, to which the blocks of `each` source lines are
// added at a time. What then does not fill a cache line waits in the row for the next ones.
//
//   row:   | room | waiting | added |
//          0      64        64 + waiting
//
// Byte 64 of a row belongs at the beginning of a cache line of the target. The blocks that are
// added follow the waiting ones there, so `waiting` is also where in the cache line they begin. At
// first, what waits is the neighbour's part of the cache line in which the target line begins: it
// is not set, and never written. There is room for the last tile, which may begin one vector
// earlier, because it overlaps the one before it.
template <unsigned width>
class WaitingLines {
public:
    static constexpr uint64_t each = 2 * line_bytes / width;
    static constexpr unsigned rows = 4 * line_bytes / width < 64 ? 4 * line_bytes / width : 64;

    // `to` is the address of the target line.
    UCD_SEQ_INLINE void begin(unsigned row, uintptr_t to) { waiting_[row] = to % line_bytes; }

    // Where block `at` of those that are added lies; down to one vector before them.
    UCD_SEQ_INLINE uintptr_t place(unsigned row, uint64_t at) {
        return reinterpret_cast<uintptr_t>(buffer_[row]) + line_bytes + waiting_[row] + at * width;
    }

    // Writes `added` blocks, the first of which belongs at `to`. `first` and `last` are whether
    // they are the first `each` blocks of the target line, and whether they are its last ones.
    UCD_SEQ_INLINE void write(unsigned row, uintptr_t to, uint64_t added, bool first, bool last) {
        char *const line = buffer_[row] + line_bytes;
        const uint64_t waiting = waiting_[row], bytes = waiting + added * width;
        const uintptr_t to_line = to - waiting;
        uint64_t done = 0;
        if (first && waiting > 0) {
            __builtin_memcpy(pointer(to), line + waiting, line_bytes - waiting);
            done = line_bytes;
        }
        for (; done + line_bytes <= bytes; done += line_bytes)
            store_line<true>(to_line + done, line + done);
        if (last) {
            __builtin_memcpy(pointer(to_line + done), line + done, bytes - done);
            return;
        }
        copy<line_bytes>(line, line + done);
        waiting_[row] = bytes - done;
    }

private:
    alignas(line_bytes) char buffer_[rows][2 * uint64_t{line_bytes} + each * width];
    uint64_t waiting_[rows];
};

// Adds the blocks of the source lines [f, f + count) to the rows of the target lines from t on. The
// last tile of a line overlaps the one before it, so that all are whole. It puts the same blocks
// there again, or some that are written already.
template <unsigned width>
UCD_SEQ_INLINE void add_tiles(const Matrix &m, uint64_t f, uint64_t count, uint64_t t,
                              unsigned height, WaitingLines<width> &lines) {
    constexpr unsigned side = Tile<width>::side;
    const uintptr_t from = m.from + t * width;
    for (uint64_t i = 0; i < count; i += side) {
        const uint64_t at = f + i + side <= m.from_count ? i : m.from_count - side - f;
        const int64_t *const from_lines = m.from_lines + (f + at);
        for (unsigned j = 0; j < height; j += side)
            Tile<width>::move(
                [&](unsigned k) { return displaced(from, from_lines[k]) + uint64_t{j} * width; },
                [&](unsigned k) { return lines.place(j + k, at); });
    }
}

// Writes whole cache lines past the caches, wherever they begin in the lines of the target.
// [to, to_end) are a multiple of the tile's side; the matrix has more than WaitingLines::each lines
// of the source.
template <unsigned width>
UCD_SEQ_ONE_COPY void stream_unaligned(const Matrix &m, uint64_t to_end) {
    using Lines = WaitingLines<width>;
    Lines lines;
    for (uint64_t t = 0; t < to_end; t += Lines::rows) {
        const auto height = static_cast<unsigned>(lesser(Lines::rows, to_end - t));
        const auto target = [&](unsigned j, uint64_t f) {
            return displaced(m.to, m.to_lines[t + j]) + f * width;
        };
        for (unsigned j = 0; j < height; ++j) lines.begin(j, target(j, 0));
        for (uint64_t f = 0; f < m.from_count; f += Lines::each) {
            const uint64_t next = f + Lines::each, count = lesser(Lines::each, m.from_count - f);
            prefetch_lines(m, next, lesser(next + Lines::each, m.from_count), m.from + t * width,
                           uint64_t{height} * width);
            add_tiles<width>(m, f, count, t, height, lines);
            for (unsigned j = 0; j < height; ++j)
                lines.write(j, target(j, f), count, f == 0, next >= m.from_count);
        }
    }
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

// The number of entries after which a line begins in all lines; UINT64_MAX if they differ.
template <unsigned width>
UCD_SEQ_INLINE uint64_t entries_to_line(uintptr_t at, const int64_t *lines, uint64_t count) {
    const uintptr_t first = displaced(at, lines[0]);
    if (first % width != 0) return UINT64_MAX;
    uint64_t differences = 0;
    for (uint64_t k = 1; k < count; ++k)
        differences |= static_cast<uint64_t>(lines[k]) ^ static_cast<uint64_t>(lines[0]);
    // The sum at + lines[k] has the low bits of at + lines[0] if the low bits of both lines agree.
    return differences % line_bytes == 0 ? (0 - first) % line_bytes / width : UINT64_MAX;
}

template <unsigned width>
UCD_SEQ_INLINE void move_lines(const Matrix &m) {
    constexpr uint64_t blocks = line_bytes / width;
    if (m.past_caches) {
        const uint64_t skipped = entries_to_line<width>(m.to, m.to_lines, m.to_count);
        if (skipped != UINT64_MAX && m.from_count >= skipped + blocks && m.to_count >= blocks) {
            const uint64_t from_end = m.from_count - (m.from_count - skipped) % blocks;
            const uint64_t to_end = m.to_count / blocks * blocks;
            move_whole_lines<width, true>(m, {skipped, from_end, 0, to_end});
            constexpr unsigned bytes = vector_bytes(width);
            move_tiles<width, bytes>(m, {0, skipped, 0, m.to_count});
            move_tiles<width, bytes>(m, {from_end, m.from_count, 0, m.to_count});
            move_tiles<width, bytes>(m, {skipped, from_end, to_end, m.to_count});
            return;
        }
        constexpr uint64_t long_line = 8 * blocks; // so that few cache lines are not whole
        if (m.unaligned_past_caches && m.from_count >= long_line && m.to_count >= blocks) {
            constexpr unsigned bytes = vector_bytes(width), side = Tile<width>::side;
            const uint64_t to_end = m.to_count / side * side;
            stream_unaligned<width>(m, to_end);
            return move_tiles<width, bytes>(m, {0, m.from_count, to_end, m.to_count});
        }
    }
    // Lines whose distance is a multiple of 2 KiB fall into few cache sets.
    const auto few_sets = [](const int64_t *lines) { return (lines[1] - lines[0]) % 2048 == 0; };
    // performance only: both move the same tiles
    if (width <= 2 && m.from_count >= blocks && m.to_count >= blocks &&
        (few_sets(m.from_lines) || few_sets(m.to_lines))) {
        const uint64_t from_end = m.from_count / blocks * blocks;
        const uint64_t to_end = m.to_count / blocks * blocks;
        move_whole_lines<width, false>(m, {0, from_end, 0, to_end});
        move_tiles<width, vector_bytes(width)>(m, {from_end, m.from_count, 0, m.to_count});
        move_tiles<width, vector_bytes(width)>(m, {0, from_end, to_end, m.to_count});
        return;
    }
    move_tiles<width, vector_bytes(width)>(m, {0, m.from_count, 0, m.to_count});
}

template <class Leaf>
void transpose(const Matrix &m) {
    if constexpr (Leaf::exact) {
        constexpr unsigned width = Leaf::width, bytes = vector_bytes(width);
        const uint64_t lines = lesser(m.from_count, m.to_count);
        if (m.from_step == static_cast<int64_t>(width) &&
            m.to_step == static_cast<int64_t>(width)) {
            if (lines <= max_interleaved && interleave<width>(m)) return;
            if constexpr (bytes / width > 1)
                if (lines >= bytes / width) return move_lines<width>(m);
            if constexpr (bytes > 16 && 16 / width > 1)
                if (lines >= 16 / width)
                    return move_tiles<width, 16>(m, {0, m.from_count, 0, m.to_count});
            if constexpr (8 / width > 1)
                if (lines >= 8 / width)
                    return move_tiles<width, 8>(m, {0, m.from_count, 0, m.to_count});
        }
    }
    move_entries<Leaf>(m);
}

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
