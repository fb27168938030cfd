// Layouts as the frontend makes them, node by node, for tests of what backends make of them.
#pragma once

#include "layout/owned_layout.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ucdtest {

inline ucd::OwnedLayout block_of(std::uint64_t bytes) {
    ucd::OwnedLayout layout;
    ucd::Node n;
    n.bytes = bytes;
    n.high = static_cast<std::int64_t>(bytes);
    n.segments.count = 1;
    n.segments.first_bytes = n.segments.last_bytes = bytes;
    n.segments.last_end = n.high;
    layout.add(n);
    return layout;
}

// The number of children before each run, and their total.
inline std::vector<std::uint64_t> sums_of(const std::vector<std::uint64_t> &counts) {
    std::vector<std::uint64_t> first{0};
    for (const std::uint64_t count : counts) first.push_back(first.back() + count);
    return first;
}

// Puts a strided node around the last one, unless it is part of that.
inline void repeat_last(ucd::OwnedLayout &layout, std::uint64_t count, std::int64_t stride) {
    const auto last = static_cast<ucd::NodeId>(layout->nodes.size() - 1);
    layout.set_top(layout.add(ucd::repeat(layout->nodes.back(), last, count, stride)), 0, 0);
}

// A node of another kind around the last one: `children` of it, which touch [0, high).
inline ucd::Node around_last(const ucd::OwnedLayout &layout, ucd::NodeKind kind,
                             std::uint64_t children, std::int64_t high) {
    ucd::Node n = layout->nodes.back();
    n.kind = kind;
    n.child = static_cast<ucd::NodeId>(layout->nodes.size() - 1);
    n.count = children;
    n.bytes *= children;
    n.segments.count *= children;
    n.segments.inner_min = n.segments.inner_max = n.segments.first_bytes;
    n.segments.last_end = n.high = high;
    return n;
}

// Adds a node above all others.
inline void put_on_top(ucd::OwnedLayout &layout, const ucd::Node &node) {
    layout.set_top(layout.add(node), 0, 0);
}

inline ucd::OwnedLayout strided(std::uint64_t block, std::uint64_t count, std::int64_t stride) {
    ucd::OwnedLayout layout = block_of(block);
    repeat_last(layout, count, stride);
    return layout;
}

// Blocks at displacements, which grow and do not touch.
inline ucd::OwnedLayout listed(std::uint64_t block, std::vector<std::int64_t> displacements) {
    ucd::OwnedLayout layout = block_of(block);
    put_on_top(layout, around_last(layout, ucd::NodeKind::indexed_block, displacements.size(),
                                   displacements.back() + static_cast<std::int64_t>(block)));
    layout.add(ucd::TableLists{std::move(displacements), {}, {}, {}, {}});
    return layout;
}

} // namespace ucdtest
