// The conversion of an element on a device: the contract's, or by the device's instructions where
// these give the same bits in less time.
#pragma once

#include "vendor.h"

#include "convert.h"

namespace ucd::UCD_GPU {

#if defined(UCD_GPU_ROUNDS_TO_FLOAT8)

// The least magnitude that the format cannot represent after rounding.
template <class To>
inline constexpr uint32_t least_beyond = 0;
template <>
inline constexpr uint32_t least_beyond<Float8E4M3> = 0x43e80001; // above 464, which becomes 448
template <>
inline constexpr uint32_t least_beyond<Float8E5M2> = 0x47700000; // 61440, half way to 2^16

// The instructions saturate, and lose the sign of NaNs, so such values are chosen here.
template <class To>
UCD_GPU_FUNCTION To rounded_to_float8(float value, uint8_t limit) {
    constexpr uint32_t beyond = least_beyond<To>, quiet_nan = Format<To>::quiet_nan;
    const uint32_t sign = (convert_bits(value) >> 24) & 0x80u;
    const uint32_t special = (value != value ? quiet_nan : limit) | sign;
    const bool fits = __builtin_fabsf(value) < convert_value(beyond);
    return {static_cast<uint8_t>(fits ? round_to_float8(To{}, value) : special)};
}

#endif

// `limit` is limit_of<To>().
template <class To, class From>
UCD_GPU_FUNCTION To convert_element(From value, typename Format<To>::Bits limit) {
#if defined(UCD_GPU_ROUNDS_TO_FLOAT8)
    if constexpr (is_same<To, Float8E4M3> || is_same<To, Float8E5M2>)
        if constexpr (is_same<decltype(wide_of(value)), float>)
            return rounded_to_float8<To>(wide_of(value), limit);
#endif
    return convert<To>(value, limit);
}

} // namespace ucd::UCD_GPU
