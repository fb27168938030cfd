// The nine-point stencil: the same bits wherever it is computed, as long as nothing is fused.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(UCD_BENCH_ANYWHERE)
#define UCD_BENCH_ANYWHERE
#endif

namespace bench {

// The next value of *at, in an array with rows so far apart. The weights add up to 1.
template <class T>
UCD_BENCH_ANYWHERE inline T nine_points(const T *at, std::ptrdiff_t pitch) {
    const T *north = at - pitch, *south = at + pitch;
    const T beside = ((north[0] + south[0]) + at[-1]) + at[1];
    const T across = ((north[-1] + north[1]) + south[-1]) + south[1];
    return (T(0.25) * at[0] + T(0.125) * beside) + T(0.0625) * across;
}

// What is at a point of the whole grid before the first iteration, and for ever on its border,
// which is row or column -1 or the one after the last.
template <class T>
inline T first_value(std::int64_t row, std::int64_t column) {
    std::uint64_t mixed =
        static_cast<std::uint64_t>(row * 1'000'003 + column + 1) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
    return static_cast<T>(mixed >> 44) * T(0x1p-20);
}

} // namespace bench
