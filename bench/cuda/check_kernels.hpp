// Content of buffers, and counts of what is not as it should be.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench::gpu {

// What byte `at` of a filled buffer is; never `blank`.
inline constexpr std::uint8_t blank = 0x5a;
#if defined(__CUDACC__)
__host__ __device__
#endif
    inline std::uint8_t
    content(std::uint64_t at) {
    const std::uint64_t mixed = (at ^ at >> 13) * 0x9e3779b97f4a7c15u;
    const auto byte = static_cast<std::uint8_t>(mixed >> 56);
    return byte == blank ? 0x17 : byte;
}

void fill(char *buffer, std::size_t bytes);
std::size_t count_filled(const char *buffer, std::size_t bytes); // bytes that are not blank
std::size_t count_different(const char *a, const char *b, std::size_t bytes);

} // namespace bench::gpu
