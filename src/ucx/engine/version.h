// The first byte of every message of both families: the version of the protocol, and the byte order
// of the sender. Data is not converted, so peers of the other byte order are refused.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ucd_ucx {

inline constexpr uint8_t protocol_version = 3;
inline constexpr uint8_t big_endian_sender = 128; // a flag
constexpr uint8_t first_byte_of(uint8_t version) {
    return version | (std::endian::native == std::endian::big ? big_endian_sender : 0);
}
inline constexpr uint8_t own_first_byte = first_byte_of(protocol_version);

enum class Reading : uint8_t { good, malformed, other_version, other_byte_order };
constexpr Reading read_first_byte(uint8_t byte) {
    if ((byte & ~big_endian_sender) != protocol_version) return Reading::other_version;
    return byte == own_first_byte ? Reading::good : Reading::other_byte_order;
}

// In version 2, the header of a transfer had 48 bytes and began with a number that stands for the
// letters "UCD2". Messages without a header began as they do now.
inline constexpr std::size_t transfer_header_of_version_2 = 48;
inline bool is_transfer_of_version_2(std::string_view header) {
    return header.size() >= transfer_header_of_version_2 &&
           (header.starts_with("2DCU") || header.starts_with("UCD2"));
}

} // namespace ucd_ucx
