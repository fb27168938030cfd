// Moves rows of blocks at equal or listed distances, and several rows at once. The loops around
// them are generated.
#pragma once

#include "leaves.h"
#include "long_rows.h"

#include <utility>

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {

// Moves several blocks, all loaded before the first is stored: for eight blocks, that takes half
// the time of moving one by one. Block k lies at at(k).
template <class Leaf, class At, unsigned... k>
UCD_SEQ_INLINE void move_group(const Leaf &leaf, const At &at, char *packed,
                               std::integer_sequence<unsigned, k...>) {
    const typename Leaf::Value values[] = {leaf.load(at(k), packed + k * leaf.bytes())...};
    (leaf.store(values[k], at(k), packed + k * leaf.bytes()), ...);
}

template <unsigned number, class Leaf, class At>
UCD_SEQ_INLINE void move_group(const Leaf &leaf, const At &at, char *packed) {
    move_group(leaf, at, packed, std::make_integer_sequence<unsigned, number>());
}

// Packs every step-th element. The step is a constant, so that the compiler loads all elements and
// shuffles out the needed ones. It does not load beyond the last one.
template <unsigned width, unsigned step>
inline void pack_every(char *__restrict packed, uintptr_t at, uint64_t count) {
    typedef typename Word<width>::type Element __attribute__((aligned(1), may_alias));
    Element *__restrict const to = reinterpret_cast<Element *>(packed);
    const Element *__restrict const from = reinterpret_cast<const Element *>(at);
    for (uint64_t i = 0; i < count; ++i) to[i] = from[i * step];
}

// Whether blocks are two, three or four block sizes apart, where shuffles pay.
template <unsigned width>
UCD_SEQ_INLINE bool has_small_step(uintptr_t stride, uint64_t count) {
    if (count < 16) return false;
    if (stride == uintptr_t{2} * width) return true;
    if (width == 8) return false;
#if defined(UCD_SEQ_HAS_AVX2) || defined(UCD_SEQ_HAS_NEON)
    if (stride == uintptr_t{3} * width) return true;
#endif
    return stride == uintptr_t{4} * width;
}

template <unsigned width>
UCD_SEQ_ONE_COPY void pack_small_step(char *packed, uintptr_t at, uintptr_t stride,
                                      uint64_t count) {
    if (stride == uintptr_t{2} * width) return pack_every<width, 2>(packed, at, count);
    if constexpr (width < 8) {
        if (stride == uintptr_t{3} * width) return pack_every<width, 3>(packed, at, count);
        pack_every<width, 4>(packed, at, count);
    }
}

// These functions move rows of blocks and return the address behind the packed bytes.

// For at least eight blocks of a row of `whole` blocks. One copy serves all shapes.
template <class Leaf>
UCD_SEQ_ONE_COPY char *long_strided_row(uintptr_t at, uintptr_t stride, uint64_t count,
                                        uint64_t whole, char *packed) {
    constexpr Leaf leaf{0};
    constexpr unsigned width = Leaf::width;
    constexpr bool pack = Leaf::direction == Direction::pack;
    if constexpr (pack && width <= 8)
        if (has_small_step<width>(stride, count)) {
            pack_small_step<width>(packed, at, stride, count);
            return packed + count * width;
        }
    if (count >= long_row) {
        const uint64_t done = move_long_row<Leaf>(*cpu_tuning, at, stride, count, whole, packed);
        at += done * stride;
        packed += done * width;
        count -= done;
    }
    const Eight eight(stride);
    for (; count >= 8; count -= 8) {
        const auto block = eight.from(at);
        move_group<8>(leaf, block, packed);
        at = block(4) + eight.four;
        packed += std::size_t{8} * width;
    }
    for (; count > 0; --count) {
        leaf.move(at, packed);
        at += stride;
        packed += width;
    }
    return packed;
}

template <class Leaf>
UCD_SEQ_INLINE char *strided_row(const Leaf leaf, uintptr_t at, uintptr_t stride, uint64_t count,
                                 uint64_t whole, char *packed) {
    if constexpr (Leaf::exact)
        // performance only: fewer blocks are moved one by one
        if (count >= 8) return long_strided_row<Leaf>(at, stride, count, whole, packed);
    for (; count > 0; --count) {
        leaf.move(at, packed);
        at += stride;
        packed += leaf.bytes();
    }
    return packed;
}

template <class Leaf>
UCD_SEQ_INLINE char *indexed_block_row(const Leaf leaf, uintptr_t at, const int64_t *displs,
                                       uint64_t count, char *packed) {
    const auto block = [&at, &displs](unsigned k) {
        return at + static_cast<uintptr_t>(displs[k]);
    };
    if constexpr (Leaf::exact) {
        for (; count >= 8; count -= 8) {
            move_group<8>(leaf, block, packed);
            displs += 8;
            packed += 8 * Leaf::width;
        }
    }
    for (; count > 0; --count) {
        leaf.move(block(0), packed);
        ++displs;
        packed += leaf.bytes();
    }
    return packed;
}

// Rows with fewer small blocks are moved several at a time, because the end of a row costs as much
// as several blocks.
constexpr uint64_t short_row = 64;

// The iterations of a strided or an indexed_block level.
struct Iterations {
    uint64_t count;
    uintptr_t stride;
    const int64_t *displs; // null: strided
};

// For rows of two to four blocks, a count that is known at compile time.
template <unsigned count, class Leaf, class Row>
UCD_SEQ_INLINE char *rows_of(const Leaf &leaf, const Row &row, uint64_t rows, uintptr_t stride,
                             char *packed) {
    constexpr unsigned together = count == 2 ? 4 : 2;
    const Eight distances(stride);
    uint64_t i = 0;
    for (; i + together <= rows; i += together) {
        const uintptr_t a = row(i), b = row(i + 1);
        const uintptr_t c = together > 2 ? row(i + 2) : 0, d = together > 2 ? row(i + 3) : 0;
        const auto at = [&](unsigned k) {
            const unsigned r = k / count;
            return (r < 2 ? r == 0 ? a : b : r == 2 ? c : d) + distances.multiple(k % count);
        };
        move_group<together * count>(leaf, at, packed);
        packed += together * count * leaf.bytes();
    }
    for (; i < rows; ++i) {
        const uintptr_t a = row(i);
        move_group<count>(
            leaf, [&](unsigned k) { return a + distances.multiple(k); }, packed);
        packed += count * leaf.bytes();
    }
    return packed;
}

// Moves each row in groups of eight, four, two and one blocks. For the address of a row, `groups`
// returns a function that maps i to the addresses of the group that begins at block i.
template <class Leaf, class Row, class Groups>
UCD_SEQ_INLINE char *rows_by_groups(const Leaf &leaf, const Row &row, const Groups &groups,
                                    uint64_t rows, uint64_t count, char *packed) {
    for (uint64_t r = 0; r < rows; ++r) {
        const uintptr_t at = row(r);
        uint64_t i = 0;
        for (; i + 8 <= count; i += 8) {
            move_group<8>(leaf, groups(at, i), packed);
            packed += 8 * leaf.bytes();
        }
        if (count & 4) {
            move_group<4>(leaf, groups(at, i), packed);
            packed += 4 * leaf.bytes();
            i += 4;
        }
        if (count & 2) {
            move_group<2>(leaf, groups(at, i), packed);
            packed += 2 * leaf.bytes();
            i += 2;
        }
        if (count & 1) {
            move_group<1>(leaf, groups(at, i), packed);
            packed += leaf.bytes();
        }
    }
    return packed;
}

// Moves four rows at a time.
template <class Leaf, class Row, class Block>
UCD_SEQ_INLINE char *rows_by_four(const Leaf &leaf, const Row &row, const Block &block,
                                  uint64_t rows, uint64_t count, char *packed) {
    const uint64_t bytes = count * leaf.bytes();
    uint64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
        const uintptr_t a = row(r), b = row(r + 1), c = row(r + 2), d = row(r + 3);
        for (uint64_t i = 0; i < count; ++i) {
            const uintptr_t at = block(i);
            leaf.move(a + at, packed);
            leaf.move(b + at, packed + bytes);
            leaf.move(c + at, packed + 2 * bytes);
            leaf.move(d + at, packed + 3 * bytes);
            packed += leaf.bytes();
        }
        packed += 3 * bytes;
    }
    for (; r < rows; ++r) {
        const uintptr_t a = row(r);
        for (uint64_t i = 0; i < count; ++i) {
            leaf.move(a + block(i), packed);
            packed += leaf.bytes();
        }
    }
    return packed;
}

template <class Leaf, class Row>
UCD_SEQ_INLINE char *rows_at(const Leaf &leaf, const Row &row, uint64_t rows,
                             const Iterations &blocks, char *packed) {
    const uint64_t count = blocks.count;
    const uintptr_t stride = blocks.stride;
    const int64_t *const displs = blocks.displs;
    if constexpr (!Leaf::exact) {
        if (displs == nullptr) {
            const auto block = [stride](uint64_t i) { return i * stride; };
            return rows_by_four(leaf, row, block, rows, count, packed);
        }
        const auto block = [displs](uint64_t i) { return static_cast<uintptr_t>(displs[i]); };
        return rows_by_four(leaf, row, block, rows, count, packed);
    } else if (displs != nullptr) {
        const auto group = [displs](uintptr_t at, uint64_t i) {
            return [displs = displs + i, at](unsigned k) {
                return at + static_cast<uintptr_t>(displs[k]);
            };
        };
        return rows_by_groups(leaf, row, group, rows, count, packed);
    } else {
        if (count == 2) return rows_of<2>(leaf, row, rows, stride, packed);
        if (count == 3) return rows_of<3>(leaf, row, rows, stride, packed);
        if (count == 4) return rows_of<4>(leaf, row, rows, stride, packed);
        const Eight eight(stride);
        const auto group = [&eight](uintptr_t at, uint64_t i) {
            return eight.from(at + i * eight.one);
        };
        return rows_by_groups(leaf, row, group, rows, count, packed);
    }
}

// For whole rows of eight blocks at equal distances. The loops above, which take rows of any
// length, keep fewer addresses in registers.
template <class Leaf>
UCD_SEQ_ONE_COPY char *rows_of_eight(uintptr_t at, const Iterations rows, uintptr_t stride,
                                     char *packed) {
    constexpr Leaf leaf{0};
    const Eight eight(stride);
    for (uint64_t i = 0; i < rows.count; ++i) {
        const uintptr_t row =
            rows.displs != nullptr ? static_cast<uintptr_t>(rows.displs[i]) : i * rows.stride;
        move_group<8>(leaf, eight.from(at + row), packed);
        packed += std::size_t{8} * Leaf::width;
    }
    return packed;
}

// For whole rows. One copy serves all shapes.
template <class Leaf>
UCD_SEQ_ONE_COPY char *short_rows(const Leaf leaf, uintptr_t at, const Iterations rows,
                                  const Iterations blocks, char *packed) {
    if constexpr (Leaf::exact)
        // performance only: fewer addresses are computed
        if (blocks.displs == nullptr && blocks.count == 8)
            return rows_of_eight<Leaf>(at, rows, blocks.stride, packed);
    if (rows.displs != nullptr) {
        const auto row = [at, displs = rows.displs](uint64_t i) {
            return at + static_cast<uintptr_t>(displs[i]);
        };
        return rows_at(leaf, row, rows.count, blocks, packed);
    }
    const auto row = [at, stride = rows.stride](uint64_t i) { return at + i * stride; };
    return rows_at(leaf, row, rows.count, blocks, packed);
}

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
