#include "baselines/conversions.hpp"

#include <bit>

namespace bench::hand {
namespace {

template <class To, class From>
void cast_all(void *out, const void *in, std::int64_t elements) {
    auto *__restrict to = static_cast<To *>(out);
    const auto *__restrict from = static_cast<const From *>(in);
    for (std::int64_t i = 0; i < elements; ++i) to[i] = static_cast<To>(from[i]);
}

} // namespace

// Rounds to nearest, ties to even; NaNs stay NaNs.
void float_to_bfloat16(void *out, const void *in, std::int64_t elements) {
    auto *__restrict to = static_cast<std::uint16_t *>(out);
    const auto *__restrict from = static_cast<const float *>(in);
    for (std::int64_t i = 0; i < elements; ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(from[i]);
        const std::uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
        const bool nan = (bits & 0x7fffffff) > 0x7f800000;
        to[i] = static_cast<std::uint16_t>((nan ? bits | 0x400000 : rounded) >> 16);
    }
}

void bfloat16_to_float(void *out, const void *in, std::int64_t elements) {
    auto *__restrict to = static_cast<std::uint32_t *>(out);
    const auto *__restrict from = static_cast<const std::uint16_t *>(in);
    for (std::int64_t i = 0; i < elements; ++i) to[i] = std::uint32_t{from[i]} << 16;
}

void double_to_float(void *out, const void *in, std::int64_t elements) {
    cast_all<float, double>(out, in, elements);
}
void float_to_double(void *out, const void *in, std::int64_t elements) {
    cast_all<double, float>(out, in, elements);
}
void int32_to_float(void *out, const void *in, std::int64_t elements) {
    cast_all<float, std::int32_t>(out, in, elements);
}
void uint8_to_float(void *out, const void *in, std::int64_t elements) {
    cast_all<float, std::uint8_t>(out, in, elements);
}

} // namespace bench::hand
