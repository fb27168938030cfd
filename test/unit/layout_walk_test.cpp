// Walks over ranges of layouts: which of them are consecutive in memory.
#include "box.h"
#include "layout_walk.h"

#include "support/catch.hpp"
#include "unit/layouts_by_hand.hpp"

#include <algorithm>
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

TEST_CASE("the parts of a box say which bytes of the packed stream they are") {
    ucd::Box box{};
    box.start = 100;
    box.offset = 50;
    box.block = 3;
    box.dims = 3;
    constexpr std::int64_t counts[] = {3, 2, 4}, strides[] = {1000, -200, 10};
    std::copy(counts, counts + 3, box.count);
    std::copy(strides, strides + 3, box.stride);
    const auto address_of = [](const ucd::Box &b, std::uint64_t byte) {
        std::uint64_t rest = byte / b.block;
        std::int64_t at = b.start + static_cast<std::int64_t>(byte % b.block);
        for (std::uint32_t k = b.dims; k-- > 0; rest /= b.count[k])
            at += static_cast<std::int64_t>(rest % b.count[k]) * b.stride[k];
        return at;
    };
    const std::uint64_t bytes = ucd::bytes_of(box);
    REQUIRE(bytes == 72);
    for (std::uint64_t begin = 0; begin < bytes; ++begin)
        for (std::uint64_t end = begin + 1; end <= bytes; ++end) {
            INFO(begin << " to " << end);
            std::uint64_t at = begin;
            bool right = true;
            const auto store = [&](const ucd::Box &part) {
                right = right && part.offset == box.offset + at;
                for (std::uint64_t i = 0; i < ucd::bytes_of(part); ++i, ++at)
                    right = right && address_of(part, i) == address_of(box, at);
            };
            ucd::cut_box(box, begin, end, store);
            REQUIRE(right);
            REQUIRE(at == end);
        }
}

} // namespace layout_walk_test
