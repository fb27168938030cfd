// Content of buffers on a device, and counts of what is not as it should be; see content.hpp.
#pragma once

#include <cstddef>

namespace bench::gpu {

void fill(char *buffer, std::size_t bytes);
std::size_t count_filled(const char *buffer, std::size_t bytes);  // bytes that are not blank
std::size_t count_foreign(const char *buffer, std::size_t bytes); // neither blank nor content
std::size_t count_different(const char *a, const char *b, std::size_t bytes);

// Bytes of a blank buffer of rows that are not as copying them from a filled one leaves it.
std::size_t count_wrong_rows(const char *to, std::size_t to_pitch, std::size_t from_pitch,
                             std::size_t width, std::size_t rows);

} // namespace bench::gpu
