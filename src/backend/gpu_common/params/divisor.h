// Division by a number that is known to the host only, without a division on the device:
// plan/make_divisor.h computes `magic` and `shift`.
#pragma once

#include "params/types.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

// Exact for numbers below 2^31. For a divisor of 2^31 or more, all members are 0; the quotient is
// then 0, which is right for such numbers.
//
//     n / value == (value == 1 ? n : high_product(n, magic) >> shift)
typedef struct Divisor {
    uint32_t value;
    uint32_t magic;
    uint32_t shift;
} Divisor;

// The same for 64-bit numbers and any divisor above 0.
//
//     high = high_product(n, magic)
//     n / value == (value == 1 ? n : (((n - high) >> 1) + high) >> shift)
typedef struct WideDivisor {
    uint64_t value;
    uint64_t magic;
    uint32_t shift;
    uint32_t unused;
} WideDivisor;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
