// Long rows of small blocks whose cache lines are many, or fall into few cache sets. The speed of
// access to these lines depends on how many are requested at once, and when. What pays was
// measured; see docs/measurements/findings.md.
#pragma once

#include "cpu_tuning.h"
#include "leaves.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {

// Hides from the compiler how a value was computed. Otherwise it rewrites `a + k * b` for
// successive k as a chain of dependent additions.
UCD_SEQ_INLINE uintptr_t opaque(uintptr_t value) {
    asm("" : "+r"(value));
    return value;
}

// The addresses of eight blocks at equal distances.
struct Eight {
    uintptr_t one, two, three, four;

    UCD_SEQ_INLINE explicit Eight(uintptr_t stride)
        : one(stride), two(opaque(2 * stride)), three(opaque(3 * stride)),
          four(opaque(4 * stride)) {}

    UCD_SEQ_INLINE uintptr_t multiple(unsigned k) const {
        if (k < 2) return k == 0 ? 0 : one;
        return k == 2 ? two : three;
    }

    UCD_SEQ_INLINE auto from(uintptr_t at) const {
        return [this, at, half = opaque(at + four)](unsigned k) {
            return (k < 4 ? at : half) + multiple(k % 4);
        };
    }
};

#if defined(__SSE2__)

// No load starts before all earlier loads are done. If lines fall into few cache sets, many
// simultaneous loads evict each other's lines before those are used.
UCD_SEQ_INLINE void wait_for_loads() {
    _mm_lfence();
}

// For rows with few enough lines to stay in the outer caches.
template <class Leaf>
UCD_SEQ_INLINE uint64_t pack_fenced(uintptr_t at, uintptr_t stride, uint64_t count, char *packed) {
    constexpr unsigned together = 8;
    uint64_t done = 0;
    for (; done + together <= count; done += together) {
#pragma GCC unroll 1
        for (unsigned k = 0; k < together; ++k) {
            Leaf::move(at, packed);
            asm volatile(".rept %c1\n\tnop\n\t.endr" : "+r"(at) : "i"(nops_between_fenced_loads));
            at += stride;
            packed += Leaf::width;
        }
        wait_for_loads(); // performance only: see there
    }
    return done;
}

// For lines that come from memory: they are prefetched. With `past_caches`, the packed bytes are
// too many to be found in the caches later, so they are written with non-temporal stores, which
// saves reading their lines. Both need eight blocks that fill whole vectors.
template <class Leaf, bool fenced, bool past_caches>
UCD_SEQ_INLINE uint64_t pack_from_memory(uintptr_t at, uintptr_t stride, uint64_t count,
                                         char *packed) {
    constexpr unsigned width = Leaf::width;
    constexpr unsigned per_vector = 16 / width;
    constexpr uint64_t early = fenced ? 32 : 64;
    uint64_t done = 0;
    if (reinterpret_cast<uintptr_t>(packed) % width != 0) return done;
    for (; reinterpret_cast<uintptr_t>(packed + done * width) % 64 != 0; ++done)
        Leaf::move(at + done * stride, packed + done * width);
    const Eight eight(stride);
    for (; done + 8 <= count; done += 8) {
        const auto block = eight.from(at + done * stride);
        const auto ahead = eight.from(at + (done + early) * stride);
        // Prefetched to the second-level cache: in the first level, the lines would be evicted
        // before they are used.
        for (unsigned k = 0; k < 8; ++k) __builtin_prefetch(pointer(ahead(k)), 0, 2);
        for (unsigned k = 0; k < 8; k += per_vector) {
            typename Leaf::Value values[per_vector];
            for (unsigned j = 0; j < per_vector; ++j) values[j] = Leaf::load(block(k + j), nullptr);
            __m128i vector;
            __builtin_memcpy(&vector, values, sizeof vector);
            __m128i *const to = reinterpret_cast<__m128i *>(packed + (done + k) * width);
            if constexpr (past_caches)
                _mm_stream_si128(to, vector);
            else
                _mm_store_si128(to, vector);
        }
        if (fenced) wait_for_loads(); // performance only: see wait_for_loads()
    }
    if (past_caches) _mm_sfence();
    return done;
}

template <class Leaf, bool fenced>
UCD_SEQ_INLINE uint64_t pack_from_memory(uintptr_t at, uintptr_t stride, uint64_t count,
                                         char *packed) {
    return count * Leaf::width >= inner_caches
               ? pack_from_memory<Leaf, fenced, true>(at, stride, count, packed)
               : pack_from_memory<Leaf, fenced, false>(at, stride, count, packed);
}

// Each store waits for its line, because the value to store seems to depend on the old one. Stores
// that wait in the store buffer do not help if their lines evict each other before it is drained.
template <class Leaf>
UCD_SEQ_INLINE uint64_t unpack_line_by_line(uintptr_t at, uintptr_t stride, uint64_t count,
                                            char *packed) {
    typename Leaf::Value none{};
    asm("" : "+m"(none));
    for (uint64_t i = 0; i < count; ++i) {
        typename Leaf::Value before;
        // performance only: nothing of the line is stored, but its load is waited for
        __builtin_memcpy(&before, pointer(at), Leaf::width);
        before &= none;
        Leaf::store(Leaf::load(at, packed) | before, at, packed);
        at += stride;
        packed += Leaf::width;
    }
    return count;
}

// For rows in which groups of accesses would only fill the queues with misses, or with lines that
// compete for one cache set.
template <class Leaf>
UCD_SEQ_INLINE uint64_t move_one_by_one(uintptr_t at, uintptr_t stride, uint64_t count,
                                        char *packed) {
#pragma GCC unroll 1
    for (uint64_t i = 0; i < count; ++i) {
        Leaf::move(at, packed);
        at += stride;
        packed += Leaf::width;
    }
    return count;
}

// Requests many lines at once; for rows in which each line is far from the next.
template <class Leaf>
UCD_SEQ_INLINE uint64_t move_by_eights(uintptr_t at, uintptr_t stride, uint64_t count,
                                       char *packed) {
    const Eight eight(stride);
    uint64_t done = 0;
    for (; done + 8 <= count; done += 8) {
        const auto block = eight.from(at);
        for (unsigned k = 0; k < 8; ++k) Leaf::move(opaque(block(k)), packed + k * Leaf::width);
        at += 8 * stride;
        packed += 8 * Leaf::width;
    }
    return done;
}

// Same as unpack_line_by_line(), but for a few lines at once.
template <class Leaf>
UCD_SEQ_INLINE uint64_t unpack_fenced(uintptr_t at, uintptr_t stride, uint64_t count,
                                      char *packed) {
    constexpr unsigned together = 4;
    uint64_t done = 0;
    for (; done + together <= count; done += together) {
        // performance only: the lines are in the caches when they are written
        for (unsigned k = 0; k < together; ++k) {
            char byte;
            __builtin_memcpy(&byte, pointer(at + k * stride), 1);
            asm volatile("" : : "r"(byte));
        }
        wait_for_loads(); // performance only: see there
        for (unsigned k = 0; k < together; ++k) {
            Leaf::move(at, packed);
            at += stride;
            packed += Leaf::width;
        }
    }
    return done;
}

// Returns how many blocks it has moved, from the first on; the caller moves the rest. `whole` is
// the length of the row that these `count` blocks are part of: if a row exceeds the caches, its
// parts are not in them either.
template <class Leaf>
UCD_SEQ_ONE_COPY uint64_t move_long_row(const CpuTuning &cpu, uintptr_t at, uintptr_t stride,
                                        uint64_t count, uint64_t whole, char *packed) {
    // performance only: every way below moves what it says it has moved
    const uintptr_t distance = static_cast<intptr_t>(stride) < 0 ? 0 - stride : stride;
    // performance only: the same
    const bool from_memory = whole >= 4096 && distance >= outer_caches / whole;
    if constexpr (Leaf::direction == Direction::pack) {
        constexpr bool fills_vectors = Leaf::width >= 4;
        // performance only: the same, with or without fences
        if (whole >= cpu.pack.row && stride % cpu.pack.stride == 0) {
            const uint64_t fenced_row =
                fills_vectors ? cpu.pack.fenced_row : cpu.pack.fenced_narrow_row;
            if (whole <= fenced_row && stride % cpu.pack.fenced_stride == 0)
                return pack_fenced<Leaf>(at, stride, count, packed);
            if constexpr (fills_vectors)
                return cpu.pack.fenced_from_memory
                           ? pack_from_memory<Leaf, true>(at, stride, count, packed)
                           : pack_from_memory<Leaf, false>(at, stride, count, packed);
        }
        if constexpr (fills_vectors)
            // A part that fits the inner caches may well be in them, and is hardly slower if it is
            // not.
            // performance only: what is missing is left to the caller
            if (from_memory && count >= outer_caches / 2048)
                return pack_from_memory<Leaf, false>(at, stride, count, packed);
        // performance only: groups or one by one
        if (stride % 512 == 0) return move_one_by_one<Leaf>(at, stride, count, packed);
    } else {
        // performance only: groups of one size or another
        if (whole >= cpu.unpack.row && stride % cpu.unpack.stride == 0) {
            for (const auto &fenced : cpu.unpack.fenced)
                if (stride % fenced.stride == 0) {
                    if (whole > fenced.row) break;
                    return unpack_fenced<Leaf>(at, stride, count, packed);
                }
            return whole < cpu.unpack.by_eights ? move_one_by_one<Leaf>(at, stride, count, packed)
                                                : move_by_eights<Leaf>(at, stride, count, packed);
        }
        // performance only: each line is asked for before it is written
        if (stride % 1024 == 512 && whole <= held_row / 2)
            return unpack_line_by_line<Leaf>(at, stride, count, packed);
        // performance only: groups or one by one
        if (from_memory && distance >= 64) return move_one_by_one<Leaf>(at, stride, count, packed);
    }
    // Hardware prefetchers follow the stride of one instruction up to about two lines; in groups,
    // each instruction has a longer stride.
    // performance only: groups or one by one
    if (distance > 64 && distance <= 128 && whole >= 1024 && whole <= held_row / 2)
        return move_one_by_one<Leaf>(at, stride, count, packed);
    return 0;
}

#else

template <class Leaf>
UCD_SEQ_INLINE uint64_t move_long_row(const CpuTuning &, uintptr_t, uintptr_t, uint64_t, uint64_t,
                                      char *) {
    return 0;
}

#endif

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
