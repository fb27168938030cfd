// Boxes of long lists and of many levels, and listings of more than could be listed. (walk_test.cpp
// compares those of random types, from every segment and in every part.)
#include "support/catch.hpp"

#include "support/moves/listings.hpp"

#include <algorithm>

namespace boxes_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

// Entries of one shape, merged as the contract words it: greedily from the first.
std::vector<ucd_box_t> greedily_merged(const std::vector<Segment> &pieces) {
    std::vector<ucd_box_t> boxes;
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < pieces.size();) {
        std::size_t end = i + 1;
        const auto step = [&](std::size_t k) { return pieces[k].displ - pieces[k - 1].displ; };
        while (end < pieces.size() && pieces[end].bytes == pieces[i].bytes &&
               (end == i + 1 || step(end) == step(i + 1)))
            ++end;
        ucd_box_t box{};
        box.start = pieces[i].displ;
        box.block = pieces[i].bytes;
        box.offset = offset;
        box.dims = 1;
        box.count[0] = end - i;
        box.stride[0] = end - i > 1 ? step(i + 1) : static_cast<std::int64_t>(pieces[i].bytes);
        boxes.push_back(box);
        offset += box.block * box.count[0];
        i = end;
    }
    return boxes;
}

} // namespace

TEST_CASE("boxes of long lists are merged greedily, from any of them on") {
    run_cases("boxes of lists", 60, [](Case &one) {
        Rng &rng = one.rng();
        // Short stretches of equal steps, and now and then one across many entries.
        Ints displs;
        std::intptr_t at = 0;
        const bool two_lengths = rng.chance(30);
        while (displs.size() < 3000) {
            const std::intptr_t step = 8 * rng.between(2, 5);
            const std::size_t stretch =
                rng.chance(2) ? rng.below(400) : 1 + rng.below(two_lengths ? 4 : 2);
            for (std::size_t i = 0; i < stretch; ++i) displs.push_back(at += step);
        }
        const std::intptr_t total_span = at;
        for (std::intptr_t &d : displs)
            if (rng.chance(3)) d += total_span + 8 * rng.between(0, 1000);
        Ints lengths(displs.size(), 1);
        if (two_lengths)
            for (std::intptr_t &l : lengths) l = rng.chance(5) ? 2 : 1;
        const Subject subject =
            make_subject(one, hindexed(lengths, displs, leaf(UCD_TYPE__DOUBLE)), 1);
        const Listed what = listed(subject);
        check_boxes(one, what);
        const std::vector<ucd_box_t> boxes = all_boxes(one, 1, subject.type());
        for (int i = 0; i < 300; ++i)
            check_some_boxes(one, what, boxes, rng.below(boxes.size() + 1), rng.mostly_small(80));
    });
    // One length, and so few long stretches that the list stays one of blocks.
    run_cases("boxes of blocks", 60, [](Case &one) {
        Rng &rng = one.rng();
        Ints displs;
        std::intptr_t at = 0;
        for (int i = 0; i < 3000; ++i) displs.push_back(at += 8 * rng.between(2, 4));
        const Subject subject =
            make_subject(one, hindexed_block(1, displs, leaf(UCD_TYPE__DOUBLE)), 1);
        const Listed what = listed(subject);
        const std::vector<ucd_box_t> boxes = all_boxes(one, 1, subject.type()),
                                     expected = greedily_merged(segments(subject.bytes));
        if (!std::ranges::equal(boxes, expected,
                                [](const auto &a, const auto &b) { return same(a, b); }))
            one.fail("other boxes than merging greedily gives");
        for (int i = 0; i < 300; ++i)
            check_some_boxes(one, what, boxes, rng.below(boxes.size() + 1), rng.mostly_small(8));
    });
}

TEST_CASE("boxes have four levels; what is around them is written out") {
    RecipePtr nested = leaf(UCD_TYPE__INT);
    std::intptr_t stride = 10;
    for (int level = 0; level < 6; ++level, stride *= 10) nested = hvector(3, 1, stride, nested);
    const BuiltType type(nested);
    Case one("four levels", 0);
    const std::vector<ucd_box_t> boxes = all_boxes(one, 1, type.get());
    REQUIRE(boxes.size() == 9);
    CHECK(boxes[0].dims == 4);
    CHECK(boxes[0].stride[0] == 10000);
    CHECK(boxes[0].stride[3] == 10);
    CHECK(boxes[1].start == 100000);
    CHECK(boxes[3].start == 1000000);
    CHECK(all_boxes(one, 5, type.get()).size() == 45);
    CHECK(all_boxes(one, 0, type.get()).empty());
}

// A box has a level for the children of an entry, and one for entries at equal distances.
TEST_CASE("entries of a list are one box as long as four levels are enough") {
    const RecipePtr child = resized(
        hvector(5, 1, 2000, hvector(7, 1, 200, hvector(9, 1, 16, leaf(UCD_TYPE__INT)))), 0, 20000);
    // Entries of forty children would have five levels together; those of one child have four.
    Case one("boxes of four levels", 0);
    const Subject subject = make_subject(
        one,
        hindexed({40, 40, 40, 1, 1, 1}, {0, 900000, 1800000, 2700000, 2730000, 2760000}, child), 1);
    check_boxes(one, listed(subject));
    const std::vector<ucd_box_t> boxes = all_boxes(one, 1, subject.type());
    REQUIRE(boxes.size() == 4);
    for (const ucd_box_t &box : boxes) CHECK(box.dims == 4);
    CHECK(boxes[2].count[0] == 40);
    CHECK(boxes[2].stride[0] == 20000);
    CHECK(boxes[3].count[0] == 3);
    CHECK(boxes[3].stride[0] == 30000);
}

TEST_CASE("boxes far beyond what could be listed") {
    // 2^62 bytes; skipping must not walk.
    const BuiltType blocks(indexed_block(1, {0, 3, 7, 12}, leaf(UCD_TYPE__BYTE)));
    RecipePtr nested =
        contig(std::intptr_t{1} << 40, indexed_block(1, {0, 3, 7, 12}, leaf(UCD_TYPE__BYTE)));
    const BuiltType type(nested);
    const std::uintptr_t count = std::uintptr_t{1} << 18;
    std::uintptr_t listed = 0, total = 0;
    ucd_box_t box{};
    const std::uintptr_t last = (std::uintptr_t{1} << 59) - 1;
    REQUIRE(ucd_get_boxes(count, type.get(), last, &box, 1, &listed, &total) == UCD_SUCCESS);
    CHECK(listed == 1);
    CHECK(total == last + 1);
    CHECK(box.offset == (std::uintptr_t{1} << 60) - 2);
    CHECK(box.start == static_cast<std::int64_t>(((std::uintptr_t{1} << 58) - 1) * 13 + 7));
    CHECK((box.count[0] == 2 && box.stride[0] == 5 && box.block == 1));
}

TEST_CASE("I/O vectors count far beyond what could be listed") {
    // 2^40 segments; skipping must not walk.
    const BuiltType type(vector(1 << 20, 1, 2, leaf(UCD_TYPE__INT)));
    const std::uintptr_t count = std::uintptr_t{1} << 20;
    std::uintptr_t length = 0, bytes = 0, written = 0;
    // Elements are (2^21 - 1) * 4 bytes apart, so the last piece of each touches the next one's.
    REQUIRE(ucd_iov_len(count, type.get(), &length) == UCD_SUCCESS);
    REQUIRE(length == count * ((1 << 20) - 1) + 1);
    iovec entry = {};
    REQUIRE(ucd_iov(nullptr, count, type.get(), length - 1, &entry, 1, &written) == UCD_SUCCESS);
    REQUIRE((written == 1 && entry.iov_len == 4));
    REQUIRE(reinterpret_cast<std::uintptr_t>(entry.iov_base) == count * ((1 << 21) - 1) * 4 - 4);
    const std::uintptr_t offset = (count / 2) * (4 << 20) + 6;
    REQUIRE(ucd_iov_bytes(nullptr, count, type.get(), offset, 1, &entry, 1, &written, &bytes) ==
            UCD_SUCCESS);
    REQUIRE((written == 1 && bytes == 1 && entry.iov_len == 1));
    REQUIRE(reinterpret_cast<std::uintptr_t>(entry.iov_base) ==
            (count / 2) * ((1 << 21) - 1) * 4 + 8 + 2);
}

} // namespace boxes_test
