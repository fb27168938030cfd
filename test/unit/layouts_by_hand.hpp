// Layouts as the frontend makes them, node by node, for tests of what backends make of them.
#pragma once

#include "layout.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ucdtest {

inline ucd::Layout block_of(std::uint64_t bytes) {
    ucd::Layout layout;
    ucd::Node n;
    n.bytes = bytes;
    n.high = static_cast<std::int64_t>(bytes);
    n.segments.count = 1;
    n.segments.first_bytes = n.segments.last_bytes = bytes;
    n.segments.last_end = n.high;
    layout.nodes.push_back(n);
    return layout;
}

// Puts a strided node around the last one, unless it is part of that.
inline void repeat_last(ucd::Layout &layout, std::uint64_t count, std::int64_t stride) {
    layout.root = static_cast<ucd::NodeId>(layout.nodes.size());
    layout.nodes.push_back(ucd::repeat(layout.nodes.back(), layout.root - 1, count, stride));
}

// Puts a node of another kind around the last one: `children` of it, which touch [0, high).
inline ucd::Node &wrap_last(ucd::Layout &layout, ucd::NodeKind kind, std::uint64_t children,
                            std::int64_t high) {
    ucd::Node n = layout.nodes.back();
    n.kind = kind;
    n.child = static_cast<ucd::NodeId>(layout.nodes.size() - 1);
    n.count = children;
    n.bytes *= children;
    n.segments.count *= children;
    n.segments.inner_min = n.segments.inner_max = n.segments.first_bytes;
    n.segments.last_end = n.high = high;
    layout.root = static_cast<ucd::NodeId>(layout.nodes.size());
    layout.nodes.push_back(n);
    return layout.nodes.back();
}

inline ucd::Layout strided(std::uint64_t block, std::uint64_t count, std::int64_t stride) {
    ucd::Layout layout = block_of(block);
    repeat_last(layout, count, stride);
    return layout;
}

// Blocks at displacements, which grow and do not touch.
inline ucd::Layout listed(std::uint64_t block, std::vector<std::int64_t> displacements) {
    ucd::Layout layout = block_of(block);
    wrap_last(layout, ucd::NodeKind::indexed_block, displacements.size(),
              displacements.back() + static_cast<std::int64_t>(block));
    layout.tables.push_back({std::move(displacements), {}, {}, {}, {}});
    return layout;
}

} // namespace ucdtest
