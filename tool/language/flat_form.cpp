#include "language/flat_form.hpp"

#include <algorithm>

namespace ucdtool {
namespace {

constexpr std::size_t version_at = 4, flags_at = 6, alignment_at = 7, total_at = 8,
                      checksum_at = 16, nodes_at = 20, bounds_at = 24;
constexpr unsigned progression_flag = 16, one_length_flag = 32;

uint64_t load(std::span<const std::byte> flat, std::size_t at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i)
        value |= std::to_integer<uint64_t>(flat[at + i]) << (8 * i);
    return value;
}

int64_t load_signed(std::span<const std::byte> flat, std::size_t at, unsigned bytes) {
    const unsigned unused = 64 - 8 * bytes;
    return static_cast<int64_t>(load(flat, at, bytes) << unused) >> unused;
}

void store(std::vector<std::byte> &flat, std::size_t at, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) flat[at + i] = static_cast<std::byte>(value >> (8 * i));
}

unsigned width_code_of(int64_t value) {
    return value == static_cast<int8_t>(value)    ? 0
           : value == static_cast<int16_t>(value) ? 1
           : value == static_cast<int32_t>(value) ? 2
                                                  : 3;
}

// The CRC-32C in which the bytes of the checksum itself count as zeros.
uint32_t checksum_of(std::span<const std::byte> flat) {
    uint32_t crc = ~uint32_t{0};
    for (std::size_t i = 0; i < flat.size(); ++i) {
        if (i < checksum_at || i >= checksum_at + 4) crc ^= std::to_integer<uint32_t>(flat[i]);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

// Intermediate results may wrap; the final displacement fits.
int64_t add_product(int64_t a, int64_t b, int64_t c) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) +
                                static_cast<uint64_t>(b) * static_cast<uint64_t>(c));
}

} // namespace

FlatHeader read_header(std::span<const std::byte> flat) {
    FlatHeader h;
    const auto flags = std::to_integer<unsigned>(flat[flags_at]);
    h.version = static_cast<uint16_t>(load(flat, version_at, 2));
    h.explicit_bounds = (flags & 1) != 0;
    h.alignment = std::to_integer<uint8_t>(flat[alignment_at]);
    h.total = load(flat, total_at, 8);
    h.checksum = static_cast<uint32_t>(load(flat, checksum_at, 4));
    h.nodes = static_cast<uint32_t>(load(flat, nodes_at, 4));
    const unsigned width = 1u << (flags >> 1 & 3);
    h.start = load_signed(flat, bounds_at, width);
    h.lb = load_signed(flat, bounds_at + width, width);
    h.extent = load_signed(flat, bounds_at + 2 * width, width);
    h.bytes = bounds_at + 3 * width;
    return h;
}

FlatReader::FlatReader(std::span<const std::byte> flat)
    : flat_(flat), header_(read_header(flat)), at_(header_.bytes) {}

uint64_t FlatReader::number(unsigned width_code) {
    const unsigned bytes = 1u << width_code;
    const uint64_t value = load(flat_, at_, bytes);
    at_ += bytes;
    return value;
}

int64_t FlatReader::signed_number(unsigned width_code) {
    const unsigned bytes = 1u << width_code;
    const int64_t value = load_signed(flat_, at_, bytes);
    at_ += bytes;
    return value;
}

FlatNode FlatReader::next() {
    FlatNode n;
    n.at = at_;
    ++read_;
    const auto first = static_cast<unsigned>(number(0));
    n.kind = static_cast<FlatNode::Kind>(first & 15);
    if (n.kind == FlatNode::Kind::element) {
        n.element_class = static_cast<uint8_t>(number(0));
        n.packed_bytes = static_cast<uint8_t>(number(0));
        n.alignment = static_cast<uint8_t>(number(0));
        n.bytes = at_ - n.at;
        return n;
    }
    const auto widths = static_cast<unsigned>(number(0));
    const unsigned ids = widths & 3, scalars = widths >> 2 & 3, steps = widths >> 4 & 3,
                   lengths = widths >> 6;
    if (n.kind == FlatNode::Kind::nest) {
        for (auto k = number(0); k > 0; --k) {
            const int64_t count = signed_number(scalars);
            n.levels.push_back({count, signed_number(scalars)});
        }
        n.children.push_back(static_cast<uint32_t>(number(ids)));
        n.bytes = at_ - n.at;
        return n;
    }
    const auto count = static_cast<std::size_t>(signed_number(scalars));
    n.unit = signed_number(scalars);
    if (n.kind == FlatNode::Kind::indexed) n.stride = signed_number(scalars);
    n.children.resize(n.kind == FlatNode::Kind::structure ? count : 1);
    for (uint32_t &c : n.children) c = static_cast<uint32_t>(number(ids));
    n.displs.resize(count);
    for (std::size_t i = 1; i < count; ++i) {
        const int64_t step = (first & progression_flag) != 0 ? 1 : signed_number(steps);
        n.displs[i] = add_product(n.displs[i - 1], n.unit, step);
    }
    if (n.kind == FlatNode::Kind::indexed) {
        n.lengths.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            n.lengths[i] = i > 0 && (first & one_length_flag) != 0
                               ? n.lengths[0]
                               : static_cast<int64_t>(number(lengths));
    }
    n.bytes = at_ - n.at;
    return n;
}

std::vector<std::byte> write_flat(const FlatHeader &h, std::span<const std::byte> nodes) {
    unsigned code = 0;
    for (const int64_t v : {h.start, h.lb, h.extent}) code = std::max(code, width_code_of(v));
    const unsigned width = 1u << code;
    std::vector<std::byte> flat(bounds_at + 3 * width);
    const char magic[] = {'U', 'C', 'D', 'T'};
    std::transform(magic, magic + sizeof magic, flat.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
    flat[flags_at] = static_cast<std::byte>((h.explicit_bounds ? 1 : 0) | code << 1);
    flat[alignment_at] = static_cast<std::byte>(h.alignment);
    store(flat, version_at, h.version, 2);
    store(flat, nodes_at, h.nodes, 4);
    store(flat, bounds_at, static_cast<uint64_t>(h.start), width);
    store(flat, bounds_at + width, static_cast<uint64_t>(h.lb), width);
    store(flat, bounds_at + 2 * width, static_cast<uint64_t>(h.extent), width);
    flat.insert(flat.end(), nodes.begin(), nodes.end());
    store(flat, total_at, flat.size(), 8);
    store(flat, checksum_at, checksum_of(flat), 4);
    return flat;
}

} // namespace ucdtool
