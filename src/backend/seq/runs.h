// Moves runs of contiguous blocks, one after the other.
#pragma once

#include "leaves.h"

#if defined(UCD_SEQ_HAS_AVX512F)
#include <immintrin.h>
#endif

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {

#if defined(UCD_SEQ_HAS_AVX512F)

// Runs of up to this many bytes are moved without a branch on their length: if the length changes
// from run to run, the processor mispredicts half of these branches.
constexpr uint64_t max_masked = 32;

// Loads the first `lanes` lanes of 32 bytes.
template <unsigned lane>
UCD_SEQ_INLINE __m256i load_lanes(const char *from, unsigned lanes) {
    const unsigned mask = _bzhi_u32(~0u, lanes);
    if constexpr (lane == 8)
        return _mm256_maskz_loadu_epi64(static_cast<__mmask8>(mask), from);
    else if constexpr (lane == 4)
        return _mm256_maskz_loadu_epi32(static_cast<__mmask8>(mask), from);
    else if constexpr (lane == 2)
        return _mm256_maskz_loadu_epi16(static_cast<__mmask16>(mask), from);
    else
        return _mm256_maskz_loadu_epi8(mask, from);
}
template <unsigned lane>
UCD_SEQ_INLINE void store_lanes(char *to, unsigned lanes, __m256i value) {
    const unsigned mask = _bzhi_u32(~0u, lanes);
    if constexpr (lane == 8)
        _mm256_mask_storeu_epi64(to, static_cast<__mmask8>(mask), value);
    else if constexpr (lane == 4)
        _mm256_mask_storeu_epi32(to, static_cast<__mmask8>(mask), value);
    else if constexpr (lane == 2)
        _mm256_mask_storeu_epi16(to, static_cast<__mmask16>(mask), value);
    else
        _mm256_mask_storeu_epi8(to, mask, value);
}

// For runs of at most max_masked bytes. Accesses max_masked packed bytes for each run, all of which
// must belong to this call: when packing, later runs overwrite the excess. `early` prefetches
// lines, and needs `displs` to be longer than `count`.
template <bool early, Direction direction, unsigned unit>
UCD_SEQ_INLINE char *copy_runs_masked(uint64_t block, uintptr_t origin, const int64_t *displs,
                                      const uint64_t *first, uint64_t count, char *packed) {
    constexpr uint64_t ahead = 24;
    constexpr unsigned lane = unit < 8 ? unit : 8;
    for (uint64_t r = 0; r < count; ++r) {
        if constexpr (early)
            __builtin_prefetch(pointer(origin + static_cast<uintptr_t>(displs[r + ahead])),
                               direction == Direction::unpack);
        char *const at = pointer(origin + static_cast<uintptr_t>(displs[r]));
        const uint64_t bytes = (first[r + 1] - first[r]) * block;
        const auto lanes = static_cast<unsigned>(bytes / lane);
        __m256i *const all = reinterpret_cast<__m256i *>(packed);
        if constexpr (direction == Direction::pack)
            _mm256_storeu_si256(all, load_lanes<lane>(at, lanes));
        else
            store_lanes<lane>(at, lanes, _mm256_loadu_si256(all));
        packed += bytes;
    }
    return packed;
}

#endif

// Moves whole runs and returns the address behind the packed bytes. One copy serves all shapes.
template <Direction direction, unsigned unit>
UCD_SEQ_ONE_COPY char *whole_runs(const Run<direction, unit> leaf, uintptr_t origin,
                                  const int64_t *displs, const uint64_t *first, uint64_t count,
                                  char *packed) {
    uint64_t r = 0;
#if defined(UCD_SEQ_HAS_AVX512F)
    // Runs as many as this do not fit in the caches. They need prefetches, because masked loads do
    // not trigger the hardware prefetcher.
    constexpr uint64_t many = 32768;
    // Runs are not empty, so the last `max_masked` runs have at least as many bytes as an access of
    // an earlier run may be too wide.
    constexpr uint64_t last = max_masked;
    if (leaf.longest <= max_masked && count > last) {
        r = count - last;
        const uint64_t block = leaf.block;
        packed =
            leaf.runs >= many
                ? copy_runs_masked<true, direction, unit>(block, origin, displs, first, r, packed)
            : block == unit
                ? copy_runs_masked<false, direction, unit>(unit, origin, displs, first, r, packed)
                : copy_runs_masked<false, direction, unit>(block, origin, displs, first, r, packed);
    }
#endif
    for (; r < count; ++r) {
        const uint64_t children = first[r + 1] - first[r];
        leaf.move(origin + static_cast<uintptr_t>(displs[r]), packed, children);
        packed += leaf.bytes(children);
    }
    return packed;
}

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
