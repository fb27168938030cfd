#include "support/oracle/small_float.hpp"

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

} // namespace ucdtest
