// Division by the divisors of params/divisor.h.
#pragma once

#include "params/divisor.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

using namespace gpu;

UCD_GPU_FUNCTION uint32_t quotient(uint32_t n, const Divisor &d) {
    return d.value == 1 ? n : high_product(n, d.magic) >> d.shift;
}

UCD_GPU_FUNCTION uint64_t quotient(uint64_t n, const WideDivisor &d) {
    if (d.value == 1) return n;
    const uint64_t high = high_product(n, d.magic);
    return (((n - high) >> 1) + high) >> d.shift;
}

} // namespace ucd::UCD_GPU
