// Matrices of two, three or four lines on one side, whose columns follow each other without gaps on
// the other side: the lines are interleaved, or taken apart, in vectors.
#pragma once

#include "leaves.h"
#include "shuffle.h"
#include "transpose.h"

#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {

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
        Vector taken;
        shuffle<(source(byte) / bytes == k ? bytes + source(byte) % bytes : byte)...>(result, from,
                                                                                      taken);
        return taken;
    }

    template <bool apart, unsigned to, unsigned... k>
    UCD_SEQ_INLINE static Vector gather(const Vector (&from)[lines],
                                        std::integer_sequence<unsigned, k...>) {
        Vector result = from[0];
        ((result = take<apart, to, k>(result, from[k], std::make_integer_sequence<int, bytes>())),
         ...);
        return result;
    }

    template <bool past_caches>
    UCD_SEQ_INLINE static void store(uintptr_t to, const Vector &vector) {
#if defined(__SSE2__)
        if constexpr (past_caches) {
            __m128i bits;
            __builtin_memcpy(&bits, &vector, bytes);
            return _mm_stream_si128(reinterpret_cast<__m128i *>(to), bits);
        }
#endif
        __builtin_memcpy(pointer(to), &vector, bytes);
    }

    // Reads a vector from each address from(k), and writes one to each address to(k).
    template <bool apart, bool past_caches, class From, class To, unsigned... k>
    UCD_SEQ_INLINE static void move(const From &from, const To &to,
                                    std::integer_sequence<unsigned, k...> all) {
        Vector in[lines];
        (__builtin_memcpy(&in[k], pointer(from(k)), bytes), ...);
        const Vector out[] = {gather<apart, k>(in, all)...};
        (store<past_caches>(to(k), out[k]), ...);
    }

    // The blocks [at, at + at_once) of each line. `displs` are those of the lines, on the side
    // where they are apart.
    template <bool apart, bool past_caches>
    UCD_SEQ_INLINE static void move_at(uintptr_t from, uintptr_t to, const int64_t *displs,
                                       uint64_t at) {
        constexpr auto all = std::make_integer_sequence<unsigned, lines>();
        const auto line = [&](uintptr_t base) {
            return [displs, begin = base + at * width](unsigned k) {
                return begin + static_cast<uintptr_t>(displs[k]);
            };
        };
        const auto together = [&](uintptr_t base) {
            return [begin = base + at * width * lines](unsigned k) {
                return begin + uint64_t{k} * bytes;
            };
        };
        if constexpr (apart)
            move<true, past_caches>(together(from), line(to), all);
        else
            move<false, past_caches>(line(from), together(to), all);
    }

    // `past_caches`: the target begins at a multiple of a vector.
    template <bool apart, bool past_caches>
    UCD_SEQ_ONE_COPY static void move_all(uintptr_t from, uintptr_t to, const int64_t *displs,
                                          uint64_t count) {
        uint64_t at = 0;
        for (; at + at_once <= count; at += at_once)
            move_at<apart, past_caches>(from, to, displs, at);
        // The last blocks are moved together with some before them.
        if (at < count) move_at<apart, false>(from, to, displs, count - at_once);
#if defined(__SSE2__)
        if constexpr (past_caches) _mm_sfence();
#endif
    }
};

// For entries that are contiguous on both sides. Returns false if the matrix is of another kind.
template <unsigned width, unsigned lines = 2>
UCD_SEQ_INLINE bool interleave(const Matrix &m) {
    if constexpr (lines > max_interleaved || width > 4) {
        return false;
    } else {
        using Interleaving = Interleaving<width, lines>;
        if (m.to_adjacent && m.from_count == lines && m.to_count >= Interleaving::at_once) {
            const uintptr_t to = m.to + static_cast<uintptr_t>(m.to_lines[0]);
            if (m.past_caches && to % Interleaving::bytes == 0)
                Interleaving::template move_all<false, true>(m.from, to, m.from_lines, m.to_count);
            else
                Interleaving::template move_all<false, false>(m.from, to, m.from_lines, m.to_count);
            return true;
        }
        if (m.from_adjacent && m.to_count == lines && m.from_count >= Interleaving::at_once) {
            Interleaving::template move_all<true, false>(
                m.from + static_cast<uintptr_t>(m.from_lines[0]), m.to, m.to_lines, m.from_count);
            return true;
        }
        return interleave<width, lines + 1>(m);
    }
}

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
