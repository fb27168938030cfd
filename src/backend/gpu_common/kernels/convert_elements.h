// The conversion of elements on a device: the contract's, or by the device's instructions where
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
    const uint32_t rounded = round_to_float8(To{}, value, value) & 0xffu;
    return {static_cast<uint8_t>(fits ? rounded : special)};
}

// Two at a time. Only where some element is special, they are looked at one by one.
template <class To, unsigned count>
UCD_GPU_FUNCTION void round_to_float8(const float (&in)[count], To (&out)[count], uint8_t limit) {
    constexpr uint32_t beyond = least_beyond<To>;
    bool fit = true;
#pragma unroll
    for (unsigned i = 0; i < count; ++i)
        fit = fit && __builtin_fabsf(in[i]) < convert_value(beyond);
    if (fit) {
#pragma unroll
        for (unsigned i = 0; i < count; i += 2) {
            const uint32_t pair = round_to_float8(To{}, in[i], in[i + 1]);
            out[i].bits = static_cast<uint8_t>(pair);
            out[i + 1].bits = static_cast<uint8_t>(pair >> 8);
        }
    } else {
#pragma unroll
        for (unsigned i = 0; i < count; ++i) out[i] = rounded_to_float8<To>(in[i], limit);
    }
}

#endif

// `limit` is limit_of<To>().
template <class To, class From, unsigned count>
UCD_GPU_FUNCTION void convert_elements(const From (&in)[count], To (&out)[count],
                                       typename Format<To>::Bits limit) {
#if defined(UCD_GPU_ROUNDS_TO_FLOAT8)
    if constexpr (is_same<To, Float8E4M3> || is_same<To, Float8E5M2>)
        if constexpr (is_same<decltype(wide_of(in[0])), float> && count % 2 == 0) {
            float wide[count];
#pragma unroll
            for (unsigned i = 0; i < count; ++i) wide[i] = wide_of(in[i]);
            return round_to_float8(wide, out, limit);
        }
#endif
#pragma unroll
    for (unsigned i = 0; i < count; ++i) out[i] = convert<To>(in[i], limit);
}

} // namespace ucd::UCD_GPU
