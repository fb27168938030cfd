// Division by a number that only the host knows, without a division on the device.
#pragma once

#include "vendor.h"

#include <bit>
#include <cstdint>

namespace ucd::UCD_GPU {

__extension__ typedef unsigned __int128 Wide;

// Exact for numbers below 2^31. A divisor of 2^31 or more gives 0, which is right for these.
struct Divisor {
    uint32_t value = 1;
    uint32_t magic = 0;
    uint32_t shift = 0;

    Divisor() = default;
    explicit Divisor(uint64_t divisor) {
        if (divisor >= uint64_t{1} << 31) {
            value = 0;
            return;
        }
        value = static_cast<uint32_t>(divisor);
        if (value <= 1) return;
        // The smallest magic number at or above 2^(31 + bits) / value.
        const auto bits = static_cast<uint32_t>(std::bit_width(value - 1));
        magic = static_cast<uint32_t>(((uint64_t{1} << (31 + bits)) + value - 1) / value);
        shift = bits - 1;
    }

    UCD_GPU_FUNCTION uint32_t quotient(uint32_t n) const {
        return value == 1 ? n : high_product(n, magic) >> shift;
    }
};

// The same for 64-bit numbers; any divisor above 0.
struct WideDivisor {
    uint64_t value = 1;
    uint64_t magic = 0;
    uint32_t shift = 0;

    WideDivisor() = default;
    explicit WideDivisor(uint64_t divisor) : value(divisor) {
        if (divisor <= 1) return;
        // 2^64 * (2^bits - value) / value + 1, as Granlund and Montgomery have it.
        const auto bits = static_cast<uint32_t>(std::bit_width(divisor - 1));
        const Wide power = Wide{1} << bits;
        magic = static_cast<uint64_t>(((power - divisor) << 64) / divisor) + 1;
        shift = bits - 1;
    }

    UCD_GPU_FUNCTION uint64_t quotient(uint64_t n) const {
        if (value == 1) return n;
        const uint64_t high = high_product(n, magic);
        return (((n - high) >> 1) + high) >> shift;
    }
};

} // namespace ucd::UCD_GPU
