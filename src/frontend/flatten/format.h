// The constants of the format of flattened types, and the encoding of its numbers:
// docs/reference/flatten-format.md.
#pragma once

#include "element.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ucd::flat {

// The header. Magic, version, total size and checksum are at the same offsets in every version.
inline constexpr uint8_t magic[4] = {'U', 'C', 'D', 'T'};
inline constexpr uint16_t version = 2; // the newest one
inline constexpr std::size_t version_at = 4, flags_at = 6, alignment_at = 7, total_at = 8,
                             checksum_at = 16, node_count_at = 20, header_bytes = 24;
inline constexpr uint8_t explicit_flag = 1; // followed by the width code of start, lb and extent
inline constexpr unsigned root_width_shift = 1;
inline constexpr uint8_t root_flags_mask = 7;

inline constexpr unsigned max_alignment_log = 15;

// The low four bits of a node's first byte.
enum class Kind : uint8_t { element = 1, nest, indexed_block, indexed, structure };
inline constexpr uint8_t kind_mask = 15;
// The high four bits: lists that are omitted.
inline constexpr uint8_t progression_flag = 16; // steps are omitted; each equals the unit
inline constexpr uint8_t one_length_flag = 32;  // one length holds for all entries

// The second byte of a node with children: log2 of the number of bytes of each number.
struct Widths {
    uint8_t ids = 0, scalars = 0, steps = 0, lengths = 0;
    constexpr uint8_t code() const {
        return static_cast<uint8_t>(ids | scalars << 2 | steps << 4 | lengths << 6);
    }
    static constexpr Widths of(uint8_t code) {
        return {static_cast<uint8_t>(code & 3), static_cast<uint8_t>(code >> 2 & 3),
                static_cast<uint8_t>(code >> 4 & 3), static_cast<uint8_t>(code >> 6)};
    }
};

inline constexpr std::size_t min_node_bytes = 4;
inline constexpr unsigned max_dims = 63; // each dimension at least doubles the size

// Representations, identified by class and packed size.
struct Representation {
    Element element = Element::none;
    uint8_t element_class = 0, bytes = 0;
};
inline constexpr Representation representations[] = {
    {Element::byte, 1, 1},
    {Element::char8, 2, 1},
    {Element::wchar16, 3, 2},
    {Element::wchar32, 3, 4},
    {Element::bool8, 4, 1},
    {Element::int8, 5, 1},
    {Element::int16, 5, 2},
    {Element::int32, 5, 4},
    {Element::int64, 5, 8},
    {Element::uint8, 6, 1},
    {Element::uint16, 6, 2},
    {Element::uint32, 6, 4},
    {Element::uint64, 6, 8},
    {Element::float16, 7, 2},
    {Element::float32, 7, 4},
    {Element::float64, 7, 8},
    {Element::binary128, 7, 16},
    {Element::bfloat16, 8, 2},
    {Element::x87_80, 9, 16},
    {Element::complex32, 10, 8},
    {Element::complex64, 10, 16},
    {Element::complex_binary128, 10, 32},
    {Element::complex_x87_80, 11, 32},
    {Element::float32_int32, 12, 8},
    {Element::float64_int32, 12, 12},
    {Element::binary128_int32, 12, 20},
    {Element::int16_int32, 13, 6},
    {Element::int32_int32, 13, 8},
    {Element::int64_int32, 13, 12},
    {Element::x87_80_int32, 14, 20},
    {Element::float32_float32, 15, 8},
    {Element::float64_float64, 15, 16},
    {Element::float8_e4m3, 16, 1},
    {Element::float8_e5m2, 17, 1},
};

// The first version of the format that has the class. The writer uses the lowest version that
// suffices, so that older readers can read as much as possible.
constexpr uint16_t version_of(uint8_t element_class) {
    return element_class <= 15 ? 1 : 2;
}

// The element of the result is Element::none if the format has no such representation.
constexpr Representation representation_of(Element element) {
    for (const Representation &r : representations)
        if (r.element == element) return r;
    return {};
}
constexpr Representation representation_with(uint8_t element_class, uint8_t bytes) {
    for (const Representation &r : representations)
        if (r.element_class == element_class && r.bytes == bytes) return r;
    return {};
}

// log2 of the number of bytes that a value needs: 0 to 3.
constexpr uint8_t width_of_unsigned(uint64_t value) {
    return value <= UINT8_MAX ? 0 : value <= UINT16_MAX ? 1 : value <= UINT32_MAX ? 2 : 3;
}
constexpr uint8_t width_of_signed(int64_t value) {
    return value == static_cast<int8_t>(value)    ? 0
           : value == static_cast<int16_t>(value) ? 1
           : value == static_cast<int32_t>(value) ? 2
                                                  : 3;
}

// Stores a number in little-endian order on any machine. `width` is log2 of its bytes.
inline uint8_t *store(uint8_t *at, uint64_t value, unsigned width) {
    const unsigned bytes = 1u << width;
    for (unsigned i = 0; i < bytes; ++i) at[i] = static_cast<uint8_t>(value >> (8 * i));
    return at + bytes;
}
inline uint64_t load_unsigned(const uint8_t *at, unsigned width) {
    uint64_t value = 0;
    for (unsigned i = 0; i < 1u << width; ++i) value |= static_cast<uint64_t>(at[i]) << (8 * i);
    return value;
}
inline int64_t load_signed(const uint8_t *at, unsigned width) {
    const unsigned unused = 64 - (8u << width);
    return static_cast<int64_t>(load_unsigned(at, width) << unused) >> unused;
}

// CRC-32C (Castagnoli, as in iSCSI) of the bytes; the checksum's own bytes count as zeros. Uses
// eight tables to process eight bytes at a time (slicing-by-8).
inline constexpr auto crc_tables = [] {
    std::array<std::array<uint32_t, 256>, 8> tables{};
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
        tables[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; ++i)
        for (std::size_t k = 1; k < 8; ++k)
            tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 255];
    return tables;
}();

inline uint32_t crc32c(uint32_t crc, const uint8_t *bytes, std::size_t count) {
    crc = ~crc;
    for (; count >= 8; bytes += 8, count -= 8) {
        const uint64_t word = load_unsigned(bytes, 3) ^ crc;
        crc = 0;
        for (unsigned k = 0; k < 8; ++k) crc ^= crc_tables[7 - k][word >> (8 * k) & 255];
    }
    for (; count > 0; ++bytes, --count) crc = crc >> 8 ^ crc_tables[0][(crc ^ *bytes) & 255];
    return ~crc;
}

// The checksum of `total` bytes that begin with a header.
inline uint32_t checksum(const uint8_t *bytes, std::size_t total) {
    constexpr uint8_t zeros[4] = {};
    uint32_t crc = crc32c(0, bytes, checksum_at);
    crc = crc32c(crc, zeros, sizeof zeros);
    const std::size_t rest = checksum_at + sizeof zeros;
    return crc32c(crc, bytes + rest, total - rest);
}

} // namespace ucd::flat
