// The conversion of elements on a device: the contract's, or by the device's instructions where
// these give the same bits in less time.
#pragma once

#include "vendor.h"

#include "convert.h"

namespace ucd::UCD_GPU {

#if defined(UCD_GPU_CONVERTS_FLOAT8)

UCD_GPU_FUNCTION bool sign_of(float value) {
    return convert_bits(value) >> 31 != 0;
}
template <class Small>
UCD_GPU_FUNCTION bool sign_of(Small value) {
    constexpr auto sign_bit = Format<Small>::sign_bit;
    return (value.bits & sign_bit) != 0;
}

template <class T>
inline constexpr bool is_float8 = is_same<T, Float8E4M3> || is_same<T, Float8E5M2>;
template <class T>
inline constexpr bool is_wider = is_same<T, float> || is_same<T, BFloat16> || is_same<T, Float16>;

// The least magnitude that the format cannot represent after rounding.
template <class To>
inline constexpr uint32_t least_beyond = 0;
template <>
inline constexpr uint32_t least_beyond<Float8E4M3> = 0x43e80001; // above 464, which becomes 448
template <>
inline constexpr uint32_t least_beyond<Float8E5M2> = 0x47700000; // 61440, half way to 2^16

// By four elements. The instructions saturate, and lose the sign of NaNs, so such values are chosen
// here, where any of the elements is one.
template <class To, class From, unsigned count>
UCD_GPU_FUNCTION void convert_to_float8(const From (&in)[count], To (&out)[count], uint8_t limit) {
    constexpr uint32_t beyond = least_beyond<To>, quiet_nan = Format<To>::quiet_nan;
    float wide[count], largest = 0;
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
        if constexpr (is_same<From, Float16>)
            wide[i] = float16_to_float(in[i]);
        else
            wide[i] = wide_of(in[i]);
        largest = larger_magnitude(largest, wide[i]);
    }
    uint32_t four[count / 4];
#pragma unroll
    for (unsigned i = 0; i < count / 4; ++i) four[i] = round_to_float8(To{}, wide + 4 * i);
    if (!(largest < convert_value(beyond))) {
#pragma unroll
        for (unsigned i = 0; i < count; ++i) {
            const uint32_t chosen =
                (__builtin_isnan(wide[i]) ? quiet_nan : limit) | (sign_of(in[i]) ? 0x80u : 0u);
            const uint32_t at = 8 * (i % 4), others = four[i / 4] & ~(0xffu << at);
            if (!(__builtin_fabsf(wide[i]) < convert_value(beyond)))
                four[i / 4] = others | chosen << at;
        }
    }
    __builtin_memcpy(out, four, sizeof four);
}

// Widens two numbers that were 8-bit floats.
UCD_GPU_FUNCTION void float16s_to(uint32_t halves, Float16 *out) {
    __builtin_memcpy(out, &halves, sizeof halves);
}
UCD_GPU_FUNCTION void float16s_to(uint32_t halves, float *out) {
    out[0] = float16_to_float({static_cast<uint16_t>(halves)});
    out[1] = float16_to_float({static_cast<uint16_t>(halves >> 16)});
}
UCD_GPU_FUNCTION void float16s_to(uint32_t halves, BFloat16 *out) {
    float wide[2];
    float16s_to(halves, wide);
    const uint32_t upper = convert_bits(wide[0]) >> 16 | (convert_bits(wide[1]) & 0xffff0000u);
    __builtin_memcpy(out, &upper, sizeof upper);
}

// To a format that has all numbers of the narrow one. Likewise, where any is a NaN or infinite.
template <class To, class From, unsigned count>
UCD_GPU_FUNCTION void convert_from_float8(const From (&in)[count], To (&out)[count],
                                          typename Format<To>::Bits limit) {
    using Bits = typename Format<To>::Bits;
    constexpr uint32_t infinite = Format<From>::beyond; // or NaN
    constexpr Bits quiet_nan = Format<To>::quiet_nan, sign_bit = Format<To>::sign_bit;
    uint32_t special = 0;
#pragma unroll
    for (unsigned i = 0; i < count; i += 4) {
        uint32_t four;
        __builtin_memcpy(&four, &in[i], sizeof four);
        float16s_to(float8_to_float16(From{}, four), &out[i]);
        float16s_to(float8_to_float16(From{}, four >> 16), &out[i + 2]);
        // Sets the highest bit of a byte whose magnitude is that of infinity, or greater.
        special |= (four & 0x7f7f7f7fu) + (0x80u - infinite) * 0x01010101u;
    }
    if ((special & 0x80808080u) == 0) return;
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
        const uint32_t magnitude = in[i].bits & 0x7fu;
        if (magnitude < infinite) continue;
        const bool is_nan = magnitude > infinite || !Format<From>::has_infinity;
        const auto chosen = static_cast<Bits>((is_nan ? quiet_nan : limit) |
                                              (in[i].bits > 0x7f ? sign_bit : Bits{0}));
        out[i] = __builtin_bit_cast(To, chosen);
    }
}

#endif

// Converts a word of elements. `limit` is limit_of<To>().
template <class To, class From, unsigned count>
UCD_GPU_FUNCTION void convert_elements(const From (&in)[count], To (&out)[count],
                                       typename Format<To>::Bits limit) {
#if defined(UCD_GPU_CONVERTS_FLOAT8)
    constexpr bool by_four = count % 4 == 0;
    if constexpr (by_four && is_wider<From> && is_float8<To>)
        convert_to_float8(in, out, limit);
    else if constexpr (by_four && is_float8<From> && is_wider<To>)
        convert_from_float8(in, out, limit);
    else
#endif
#pragma unroll
        for (unsigned i = 0; i < count; ++i) out[i] = convert<To>(in[i], limit);
}

} // namespace ucd::UCD_GPU
