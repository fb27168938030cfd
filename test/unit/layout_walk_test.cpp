// Walks over ranges of layouts: which of them are consecutive in memory.
#include "box.h"
#include "box_index.h"
#include "layout_walk.h"

#include "support/catch.hpp"
#include "unit/layouts_by_hand.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

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

TEST_CASE("a box of a list ends with the list, whatever lies behind it in memory") {
    for (const std::uint64_t entries : {2, 63, 64, 65, 128, 130})
        for (const std::int64_t gap : {0, 1000}) { // between the first entry and the others
            // The list is the first part of an array that goes on with the same distance.
            std::vector<std::int64_t> displs = {0};
            while (displs.size() < entries + 100)
                displs.push_back(gap + 100 * static_cast<std::int64_t>(displs.size()));
            ucd::OwnedLayout layout = block_of(8);
            put_on_top(layout, around_last(layout, ucd::NodeKind::indexed_block, entries,
                                           displs[entries - 1] + 8));
            layout.add(ucd::Table{.displs = ucd::Span<const std::int64_t>(displs.data(), entries)});
            const ucd::BoxIndex index(layout);
            const bool is_one = gap == 0 || entries == 2;
            const auto first = index.box_with_entry(layout->top(), 0),
                       last = index.box_with_entry(layout->top(), entries - 1);
            INFO(entries << " entries, gap " << gap);
            CHECK(index.boxes(layout->top()) == (is_one ? 1 : 2));
            CHECK(first.end == (is_one ? entries : 2));
            CHECK(last.first == (is_one ? 0 : 2));
            CHECK(last.end == entries);
            if (!is_one) CHECK(index.box_after(layout->top(), first).end == entries);
        }
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
