// Computes the divisors of params/divisor.h.
#pragma once

#include "params/divisor.h"

#include <bit>

namespace ucd::gpu {

__extension__ typedef unsigned __int128 Wide;

// Divisors divide numbers below this.
inline constexpr uint64_t divisible_limit = uint64_t{1} << 31;

inline Divisor make_divisor(uint64_t divisor) {
    if (divisor >= divisible_limit) return {};
    const auto value = static_cast<uint32_t>(divisor);
    if (value <= 1) return {value, 0, 0};
    // The smallest magic number at or above 2^(31 + bits) / value.
    const auto bits = static_cast<uint32_t>(std::bit_width(value - 1));
    return {value, static_cast<uint32_t>(((uint64_t{1} << (31 + bits)) + value - 1) / value),
            bits - 1};
}

inline WideDivisor make_wide_divisor(uint64_t divisor) {
    if (divisor <= 1) return {divisor, 0, 0, 0};
    // 2^64 * (2^bits - value) / value + 1: Granlund and Montgomery, Division by Invariant Integers.
    const auto bits = static_cast<uint32_t>(std::bit_width(divisor - 1));
    const Wide power = Wide{1} << bits;
    return {divisor, static_cast<uint64_t>(((power - divisor) << 64) / divisor) + 1, bits - 1, 0};
}

} // namespace ucd::gpu
