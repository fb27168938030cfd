// Matrices of two, three or four lines on one side, whose columns follow each other without gaps on
// the other side: the lines are interleaved, or taken apart, in vectors.
#pragma once

#include "leaves.h"
#include "transpose.h"

#include <utility>

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {

// Whether the instruction set shuffles bytes.
#if defined(UCD_SEQ_HAS_AVX2) || defined(UCD_SEQ_HAS_NEON)
constexpr bool has_byte_shuffles = true;
#else
constexpr bool has_byte_shuffles = false;
#endif

// `lines` lines of blocks of `width` bytes; a vector holds the `at_once` blocks of one line.
template <unsigned width, unsigned lines>
struct Interleaving {
    static constexpr unsigned bytes = 16, at_once = bytes / width;
    typedef uint8_t Vector __attribute__((vector_size(bytes)));

    // Where a byte of vector `to` comes from, as vector * bytes + byte.
    static constexpr unsigned interleaved_from(unsigned to, unsigned byte) {
        const unsigned position = to * bytes + byte, block = position / width;
        return block % lines * bytes + block / lines * width + position % width;
    }
    static constexpr unsigned apart_from(unsigned to, unsigned byte) {
        return (byte / width * lines + to) * width + byte % width;
    }

    // Takes those bytes of vector `to` that come from vector k, and leaves the others.
    template <bool apart, unsigned to, unsigned k, int... byte>
    UCD_SEQ_INLINE static Vector take(const Vector &result, const Vector &from,
                                      std::integer_sequence<int, byte...>) {
        constexpr auto source = [](unsigned b) {
            return apart ? apart_from(to, b) : interleaved_from(to, b);
        };
        return __builtin_shufflevector(
            result, from, (source(byte) / bytes == k ? bytes + source(byte) % bytes : byte)...);
    }

    template <bool apart, unsigned to, unsigned... k>
    UCD_SEQ_INLINE static Vector gather(const Vector (&from)[lines],
                                        std::integer_sequence<unsigned, k...>) {
        Vector result = from[0];
        ((result = take<apart, to, k>(result, from[k],
                                      std::make_integer_sequence<int, bytes>())),
         ...);
        return result;
    }

    // Reads a vector from each address from(k), and writes one to each address to(k).
    template <bool apart, class From, class To, unsigned... k>
    UCD_SEQ_INLINE static void move(const From &from, const To &to,
                                    std::integer_sequence<unsigned, k...> all) {
        Vector in[lines];
        (__builtin_memcpy(&in[k], pointer(from(k)), bytes), ...);
        const Vector out[] = {gather<apart, k>(in, all)...};
        (__builtin_memcpy(pointer(to(k)), &out[k], bytes), ...);
    }

    // `displs` are those of the lines, on the side where they are apart.
    template <bool apart>
    static void move_all(uintptr_t from, uintptr_t to, const int64_t *displs, uint64_t count) {
        constexpr auto all = std::make_integer_sequence<unsigned, lines>();
        for (uint64_t i = 0; i < count; i += at_once) {
            // The last blocks are moved together with some before them.
            const uint64_t at = i + at_once <= count ? i : count - at_once;
            const auto line = [&](uintptr_t base) {
                return [displs, begin = base + at * width](unsigned k) {
                    return begin + static_cast<uintptr_t>(displs[k]);
                };
            };
            const auto together = [&](uintptr_t base) {
                return [begin = base + at * width * lines](unsigned k) { return begin + k * bytes; };
            };
            if constexpr (apart)
                move<true>(together(from), line(to), all);
            else
                move<false>(line(from), together(to), all);
        }
    }
};

// Whether the lines follow each other without gaps.
UCD_SEQ_INLINE bool adjacent(const int64_t *lines, uint64_t count, int64_t bytes) {
    uint64_t others = 0;
    for (uint64_t k = 1; k < count; ++k) others |= static_cast<uint64_t>(lines[k] - lines[k - 1] - bytes);
    return others == 0;
}

// For entries that are contiguous on both sides. Returns false if the matrix is of another kind.
template <unsigned width, unsigned lines = 2>
UCD_SEQ_INLINE bool interleave(const Matrix &m) {
    if constexpr (!has_byte_shuffles || lines > max_interleaved || width > 4) {
        return false;
    } else {
        using Interleaving = Interleaving<width, lines>;
        constexpr auto column = static_cast<int64_t>(lines * width);
        if (m.from_count == lines && m.to_count >= Interleaving::at_once &&
            adjacent(m.to_lines, m.to_count, column)) {
            Interleaving::template move_all<false>(
                m.from, m.to + static_cast<uintptr_t>(m.to_lines[0]), m.from_lines, m.to_count);
            return true;
        }
        if (m.to_count == lines && m.from_count >= Interleaving::at_once &&
            adjacent(m.from_lines, m.from_count, column)) {
            Interleaving::template move_all<true>(
                m.from + static_cast<uintptr_t>(m.from_lines[0]), m.to, m.to_lines, m.from_count);
            return true;
        }
        return interleave<width, lines + 1>(m);
    }
}

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
