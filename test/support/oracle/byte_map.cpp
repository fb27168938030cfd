#include "support/oracle/byte_map.hpp"

#include <algorithm>

namespace ucdtest {

ByteMap byte_map(const TypeMap &map, std::size_t count) {
    ByteMap bytes;
    bytes.reserve(map.size * count);
    for (std::size_t n = 0; n < count; ++n) {
        const std::intptr_t at = static_cast<std::intptr_t>(n) * map.extent;
        for (const Entry &entry : map.entries) {
            for (std::size_t p = 0; p < entry.type->piece_count; ++p) {
                const Piece &piece = entry.type->pieces[p];
                for (std::size_t i = 0; i < piece.bytes; ++i) {
                    bytes.push_back(at + entry.displ + piece.displ + static_cast<std::intptr_t>(i));
                }
            }
        }
    }
    return bytes;
}

ByteMap byte_map(const Recipe &recipe, std::size_t count) {
    return byte_map(type_map(recipe), count);
}

TouchedRange touched_range(const ByteMap &bytes) {
    if (bytes.empty()) return {};
    const auto [low, high] = std::minmax_element(bytes.begin(), bytes.end());
    return {*low, *high + 1};
}

TouchedRange touched_range(const TypeMap &map, std::size_t count) {
    if (map.entries.empty() || count == 0) return {};
    const std::intptr_t last = static_cast<std::intptr_t>(count - 1) * map.extent;
    return {map.true_lb + std::min<std::intptr_t>(0, last),
            map.true_ub() + std::max<std::intptr_t>(0, last)};
}

std::vector<Segment> segments(const ByteMap &bytes, std::size_t offset, std::size_t length) {
    std::vector<Segment> result;
    for (std::size_t i = offset; i < offset + length; ++i) {
        if (i > offset && bytes[i] == bytes[i - 1] + 1) {
            ++result.back().bytes;
        } else {
            result.push_back({bytes[i], 1});
        }
    }
    return result;
}

std::vector<Segment> segments(const ByteMap &bytes) {
    return segments(bytes, 0, bytes.size());
}

bool overlaps(const ByteMap &bytes) {
    const TouchedRange range = touched_range(bytes);
    std::vector<bool> seen(range.length(), false);
    for (const std::intptr_t displ : bytes) {
        const auto position = static_cast<std::size_t>(displ - range.low);
        if (seen[position]) return true;
        seen[position] = true;
    }
    return false;
}

bool overlaps(const TypeMap &map, std::size_t count) {
    return overlaps(byte_map(map, count));
}

std::vector<StreamElement> stream_elements(const TypeMap &map, std::size_t count) {
    std::vector<StreamElement> elements;
    elements.reserve(map.entries.size() * count);
    std::size_t offset = 0;
    for (std::size_t n = 0; n < count; ++n) {
        for (const Entry &entry : map.entries) {
            elements.push_back({entry.type, offset});
            offset += entry.type->size;
        }
    }
    return elements;
}

} // namespace ucdtest
