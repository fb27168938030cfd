// Conversions of consecutive elements, as a program would write them.
#pragma once

#include <cstdint>

namespace bench::hand {

using ConversionLoop = void (*)(void *out, const void *in, std::int64_t elements);

void float_to_bfloat16(void *out, const void *in, std::int64_t elements);
void bfloat16_to_float(void *out, const void *in, std::int64_t elements);
void double_to_float(void *out, const void *in, std::int64_t elements);
void float_to_double(void *out, const void *in, std::int64_t elements);
void int32_to_float(void *out, const void *in, std::int64_t elements);
void uint8_to_float(void *out, const void *in, std::int64_t elements);

} // namespace bench::hand
