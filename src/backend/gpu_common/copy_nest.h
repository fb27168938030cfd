// Two strided layouts as one nest, whose levels have a stride on each side. It may be walked in any
// order.
#pragma once

#include "layout.h"
#include "vendor.h"

#include <cstdint>
#include <vector>

namespace ucd::UCD_GPU {

struct CopyNest {
    struct Level {
        uint64_t count;
        int64_t from, to; // bytes from child to child
        friend bool operator==(const Level &, const Level &) = default;
    };
    uint64_t block = 0; // bytes that are consecutive on both sides
    std::vector<Level> levels;
};

// The first `length` bytes of the packed streams of two nodes, of which `to` may have more. False
// if one of them is not strided, or if their levels do not fit into each other.
bool join_strides(const Layout &from_layout, const Node &from, const Layout &to_layout,
                  const Node &to, uint64_t length, CopyNest &nest);

// Puts the level last whose children are closest on a side, and so on.
void sort_levels(CopyNest &nest, int64_t CopyNest::Level::*side);

// How many sectors of memory `lanes` neighbouring words touch on both sides, if the levels are
// walked with the last one fastest.
uint64_t sectors_of(const CopyNest &nest, uint64_t word, uint64_t lanes);

} // namespace ucd::UCD_GPU
