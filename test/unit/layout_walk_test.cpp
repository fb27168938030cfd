// Walks over ranges of layouts: which of them are consecutive in memory.
#include "layout_walk.h"

#include "support/catch.hpp"
#include "unit/layouts_by_hand.hpp"

#include <cstdint>

namespace layout_walk_test {

using namespace ucdtest;

namespace {

constexpr std::int64_t scattered = -1;

// Where the consecutive bytes begin.
std::int64_t first_of(const ucd::Layout &layout, std::uint64_t offset, std::uint64_t length) {
    std::int64_t first = 0;
    return ucd::is_consecutive(layout, layout.top(), offset, length, first) ? first : scattered;
}

} // namespace

TEST_CASE("bytes of one block are consecutive, wherever it lies") {
    ucd::OwnedLayout block = block_of(16);
    CHECK(first_of(block, 0, 16) == 0);
    block.set_top(block->root, 8, block->depth);
    CHECK(first_of(block, 0, 16) == 8);
    CHECK(first_of(block, 5, 7) == 13);
}

TEST_CASE("blocks that touch are consecutive, and others are not") {
    ucd::OwnedLayout touching = strided(8, 3, 8);
    touching.set_top(touching->root, 8, touching->depth);
    CHECK(first_of(touching, 0, 24) == 8);
    CHECK(first_of(touching, 9, 15) == 17);
    ucd::OwnedLayout apart = strided(8, 3, 12);
    apart.set_top(apart->root, 8, apart->depth);
    CHECK(first_of(apart, 0, 24) == scattered);
    CHECK(first_of(apart, 7, 2) == scattered);
    CHECK(first_of(apart, 8, 8) == 20);
}

} // namespace layout_walk_test
