// The type map walked byte by byte: where each byte of the packed stream lies, and what follows
// from that alone (segments, overlap, element boundaries).
#pragma once

#include "support/oracle/type_map.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucdtest {

// displs[i]: where byte i of the packed stream lies, relative to the buffer's address.
using ByteMap = std::vector<std::intptr_t>;

ByteMap byte_map(const TypeMap &map, std::size_t count);
ByteMap byte_map(const Recipe &recipe, std::size_t count);

// One past the highest and the lowest displacement touched; both 0 for an empty map.
struct TouchedRange {
    std::intptr_t low = 0, high = 0;
    std::size_t length() const { return static_cast<std::size_t>(high - low); }
};
TouchedRange touched_range(const ByteMap &bytes);
// The same for `count` elements, from the bounds: to size a buffer before walking it.
TouchedRange touched_range(const TypeMap &map, std::size_t count);

struct Segment {
    std::intptr_t displ;
    std::size_t bytes;
    friend bool operator==(const Segment &, const Segment &) = default;
};
// Maximal runs of bytes that are neighbours both in the stream and in memory.
std::vector<Segment> segments(const ByteMap &bytes);
// The same of bytes [offset, offset + length) of the stream.
std::vector<Segment> segments(const ByteMap &bytes, std::size_t offset, std::size_t length);

// Whether any byte of memory occurs twice in the stream.
bool overlaps(const ByteMap &bytes);
bool overlaps(const TypeMap &map, std::size_t count);

// One element of the packed stream; boundaries are what reductions may start at.
struct StreamElement {
    const Predefined *type;
    std::size_t offset;
};
std::vector<StreamElement> stream_elements(const TypeMap &map, std::size_t count);

} // namespace ucdtest
