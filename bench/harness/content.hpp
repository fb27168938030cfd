// What buffers are filled with, so that a byte in a wrong place is seen.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(UCD_BENCH_ANYWHERE)
#define UCD_BENCH_ANYWHERE
#endif

namespace bench {

// What memory is set to that is to be written.
inline constexpr std::uint8_t blank = 0x5a;

UCD_BENCH_ANYWHERE inline std::uint64_t mixed(std::uint64_t index) {
    return (index + 1) * 0x9e3779b97f4a7c15u ^ (index << 29);
}

// Byte `at` of a filled buffer; never blank. Neighbours are bytes of one mixed word, so that a host
// mixes once for eight of them. As floating-point numbers, any bytes are normal and finite, because
// some libraries that move numbers multiply them by 1.
UCD_BENCH_ANYWHERE inline std::uint8_t content_of(std::uint64_t word, std::uint64_t at) {
    const auto byte = static_cast<std::uint8_t>(word >> 8 * (at % 8));
    if (byte == blank) return 0x17;
    const bool extreme = byte % 0x80 == 0 || byte % 0x80 == 0x7f;
    return static_cast<std::uint8_t>(extreme ? byte ^ 0x20 : byte);
}
UCD_BENCH_ANYWHERE inline std::uint8_t content(std::uint64_t at) {
    return content_of(mixed(at / 8), at);
}

} // namespace bench
