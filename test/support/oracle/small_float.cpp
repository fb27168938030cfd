#include "support/oracle/small_float.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ucdtest {

float to_float(Half value) {
    const int exponent = value.bits >> 10 & 0x1f;
    const int fraction = value.bits & 0x3ff;
    float magnitude;
    if (exponent == 0x1f) {
        magnitude = fraction == 0 ? INFINITY : NAN;
    } else if (exponent == 0) {
        magnitude = std::ldexp(static_cast<float>(fraction), -24);
    } else {
        magnitude = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
    }
    return value.bits & 0x8000 ? -magnitude : magnitude;
}

float to_float(BFloat value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

Half half_from(float value) {
    const unsigned sign = std::signbit(value) ? 0x8000 : 0;
    const auto with_sign = [&](unsigned bits) {
        return Half{static_cast<std::uint16_t>(sign | bits)};
    };
    const float magnitude = std::fabs(value);
    if (std::isnan(value)) return with_sign(0x7e00);
    if (magnitude == 0) return with_sign(0);
    // 65520 is half way between the largest finite value and 2^16; ties go to the even one, 2^16.
    if (magnitude >= 65520.0f) return with_sign(0x7c00);
    // Count in units of the last place that the result will have: 2^-24 for subnormals, else
    // 2^(e - 10). Both steps are exact in double; nearbyint then rounds once, ties to even.
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const int unit = exponent - 1 < -14 ? -24 : exponent - 1 - 10;
    const double units = std::nearbyint(std::ldexp(static_cast<double>(magnitude), -unit));
    const auto count = static_cast<unsigned>(units);
    if (unit == -24 && count < 0x400) return with_sign(count);
    // A carry out of the fraction (count == 0x800) moves into the exponent, as it should.
    return with_sign((static_cast<unsigned>(unit + 25) << 10) + (count - 0x400));
}

BFloat bfloat_from(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return BFloat{static_cast<std::uint16_t>(bits >> 16 | 0x40)};
    const std::uint32_t odd = bits >> 16 & 1;
    return BFloat{static_cast<std::uint16_t>((bits + 0x7fff + odd) >> 16)};
}

// The magnitudes of E4M3 are steps of 2^-9 below 2^-6, and eight for each power of two from there
// on. 1111.111 is no number: the last one is 448.
float to_float(E4M3 value) {
    const int exponent = value.bits >> 3 & 0xf, fraction = value.bits & 7;
    const float magnitude =
        (value.bits & 0x7f) == 0x7f
            ? NAN
            : std::ldexp(static_cast<float>(exponent == 0 ? fraction : fraction + 8),
                         std::max(exponent, 1) - 10);
    return value.bits & 0x80 ? -magnitude : magnitude;
}

// E5M2 is binary16 without its last eight bits.
float to_float(E5M2 value) {
    return to_float(Half{static_cast<std::uint16_t>(value.bits << 8)});
}

namespace {

// The magnitude nearest to a number, the even one of two equally near, by trying all. `beyond` is
// the first that is no finite number, and stands for all that is larger; rounding takes
// `value_beyond` for its value.
template <class Small>
std::uint8_t nearest_magnitude(float number, unsigned beyond, double value_beyond) {
    const double magnitude = std::fabs(static_cast<double>(number));
    if (magnitude >= value_beyond) return static_cast<std::uint8_t>(beyond);
    unsigned below = beyond - 1;
    while (static_cast<double>(to_float(Small{static_cast<std::uint8_t>(below)})) > magnitude)
        --below;
    const unsigned above = below + 1;
    const double low = static_cast<double>(to_float(Small{static_cast<std::uint8_t>(below)}));
    const double high =
        above == beyond ? value_beyond
                        : static_cast<double>(to_float(Small{static_cast<std::uint8_t>(above)}));
    const double down = magnitude - low, up = high - magnitude;
    return static_cast<std::uint8_t>(up < down || (up == down && below % 2 == 1) ? above : below);
}

std::uint8_t sign_of(float value) {
    return std::signbit(value) ? 0x80 : 0;
}

} // namespace

E4M3 e4m3_from(float value) {
    // 480 would be the next number, and is the NaN's place.
    const unsigned magnitude = std::isnan(value) ? 0x7f : nearest_magnitude<E4M3>(value, 0x7f, 480);
    return E4M3{static_cast<std::uint8_t>(sign_of(value) | magnitude)};
}

E5M2 e5m2_from(float value) {
    // 2^16 would be the next number, and is infinity's place.
    const unsigned magnitude =
        std::isnan(value) ? 0x7e : nearest_magnitude<E5M2>(value, 0x7c, 65536);
    return E5M2{static_cast<std::uint8_t>(sign_of(value) | magnitude)};
}

} // namespace ucdtest
