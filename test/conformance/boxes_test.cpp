// Boxes: they make up the packed stream byte by byte, from any of them on.
#include "support/catch.hpp"

#include "support/moves/calls.hpp"
#include "support/moves/subject.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace boxes_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

bool same(const ucd_box_t &a, const ucd_box_t &b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

std::vector<ucd_box_t> all_boxes(std::uintptr_t count, ucd_type_t type) {
    std::uintptr_t listed = untouched, total = untouched;
    REQUIRE(ucd_get_boxes(count, type, 0, nullptr, 0, &listed, &total) == UCD_SUCCESS);
    REQUIRE(listed == 0);
    std::vector<ucd_box_t> boxes(total);
    REQUIRE(ucd_get_boxes(count, type, 0, boxes.data(), total, &listed, &total) == UCD_SUCCESS);
    REQUIRE(listed == boxes.size());
    REQUIRE(total == boxes.size());
    return boxes;
}

// Appends the places of a box's bytes; what is wrong with the box, or null.
const char *walk(const ucd_box_t &box, ByteMap &bytes) {
    if (box.dims < 1 || box.dims > 4 || box.reserved != 0 || box.block == 0) return "malformed";
    for (std::uint32_t k = box.dims; k < 4; ++k)
        if (box.count[k] != 0 || box.stride[k] != 0) return "an unused entry that is not 0";
    const bool piece = box.dims == 1 && box.count[0] == 1;
    if (piece && box.stride[0] != static_cast<std::int64_t>(box.block)) return "a piece's stride";
    if (box.offset != bytes.size()) return "not where the one before ends";
    std::array<std::uint64_t, 4> index{};
    for (;;) {
        std::int64_t at = box.start;
        for (std::uint32_t k = 0; k < box.dims; ++k) {
            if (!piece && box.count[k] < 2) return "a level of fewer than two";
            at += static_cast<std::int64_t>(index[k]) * box.stride[k];
        }
        for (std::uint64_t i = 0; i < box.block; ++i)
            bytes.push_back(at + static_cast<std::int64_t>(i));
        std::uint32_t k = box.dims;
        while (k > 0 && ++index[k - 1] == box.count[k - 1]) index[--k] = 0;
        if (k == 0) return nullptr;
    }
}

void check_chunk(Case &one, const Subject &subject, const std::vector<ucd_box_t> &all,
                 std::size_t first, std::size_t room) {
    ucd_box_t canary;
    std::memset(&canary, 0x5a, sizeof canary);
    std::vector<ucd_box_t> some(room + 1, canary);
    std::uintptr_t listed = untouched, total = untouched;
    one.succeed(ucd_get_boxes(subject.count, subject.type(), first,
                              room == 0 ? nullptr : some.data(), room, &listed, &total),
                "ucd_get_boxes");
    const std::size_t expected = std::min(room, all.size() - first);
    if (listed != expected || total != all.size())
        one.fail("from ", first, ", room ", room, ": ", listed, " of ", total);
    for (std::size_t i = 0; i < some.size(); ++i)
        if (!same(some[i], i < expected ? all[first + i] : canary))
            one.fail("from ", first, ", room ", room, ": box ", i, " differs");
}

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

TEST_CASE("boxes of random layouts") {
    run_cases("boxes", 12000, [](Case &one) {
        Rng &rng = one.rng();
        const Subject subject = random_subject(one);
        const std::vector<ucd_box_t> boxes = all_boxes(subject.count, subject.type());
        ByteMap bytes;
        for (const ucd_box_t &box : boxes)
            if (const char *wrong = walk(box, bytes)) one.fail(wrong);
        if (bytes != subject.bytes) one.fail("the boxes are other bytes");

        ucd_layout_t layout{};
        layout.struct_size = sizeof layout;
        one.succeed(ucd_get_layout(subject.count, subject.type(), &layout), "ucd_get_layout");
        if (layout.box_dims > 0) {
            if (boxes.size() != 1) one.fail("a regular box, but ", boxes.size(), " boxes");
            const ucd_box_t &box = boxes.front();
            if (box.dims != layout.box_dims || box.start != layout.box_start ||
                box.block != layout.box_block ||
                !std::equal(box.count, box.count + 4, layout.box_count) ||
                !std::equal(box.stride, box.stride + 4, layout.box_stride))
                one.fail("another box than the layout's");
        }

        const std::size_t chunk = 1 + rng.mostly_small(20);
        for (std::size_t first = 0; first <= boxes.size(); first += chunk)
            check_chunk(one, subject, boxes, first, chunk);
        for (int i = 0; i < 4; ++i)
            check_chunk(one, subject, boxes, rng.below(boxes.size() + 1), rng.mostly_small(8));
        std::uintptr_t listed = untouched, total = untouched;
        ucd_box_t box;
        if (ucd_get_boxes(subject.count, subject.type(), boxes.size() + 1, &box, 1, &listed,
                          &total) != UCD_ERR__INVALID_ARG ||
            listed != untouched || total != untouched)
            one.fail("a box beyond the last one");
    });
}

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
        const std::vector<ucd_box_t> boxes = all_boxes(1, subject.type());
        ByteMap bytes;
        for (const ucd_box_t &box : boxes)
            if (const char *wrong = walk(box, bytes)) one.fail(wrong);
        if (bytes != subject.bytes) one.fail("the boxes are other bytes");
        for (int i = 0; i < 300; ++i)
            check_chunk(one, subject, boxes, rng.below(boxes.size() + 1), rng.mostly_small(80));
    });
    // One length, and so few long stretches that the list stays one of blocks.
    run_cases("boxes of blocks", 60, [](Case &one) {
        Rng &rng = one.rng();
        Ints displs;
        std::intptr_t at = 0;
        for (int i = 0; i < 3000; ++i) displs.push_back(at += 8 * rng.between(2, 4));
        const Subject subject =
            make_subject(one, hindexed_block(1, displs, leaf(UCD_TYPE__DOUBLE)), 1);
        const std::vector<ucd_box_t> boxes = all_boxes(1, subject.type()),
                                     expected = greedily_merged(segments(subject.bytes));
        if (!std::equal(boxes.begin(), boxes.end(), expected.begin(), expected.end(), same))
            one.fail("other boxes than merging greedily gives");
        for (int i = 0; i < 300; ++i)
            check_chunk(one, subject, boxes, rng.below(boxes.size() + 1), rng.mostly_small(8));
    });
}

TEST_CASE("boxes have four levels; what is around them is written out") {
    RecipePtr nested = leaf(UCD_TYPE__INT);
    std::intptr_t stride = 10;
    for (int level = 0; level < 6; ++level, stride *= 10) nested = hvector(3, 1, stride, nested);
    const BuiltType type(nested);
    const std::vector<ucd_box_t> boxes = all_boxes(1, type.get());
    REQUIRE(boxes.size() == 9);
    CHECK(boxes[0].dims == 4);
    CHECK(boxes[0].stride[0] == 10000);
    CHECK(boxes[0].stride[3] == 10);
    CHECK(boxes[1].start == 100000);
    CHECK(boxes[3].start == 1000000);
    CHECK(all_boxes(5, type.get()).size() == 45);
    CHECK(all_boxes(0, type.get()).empty());
}

// A box has a level for the children of an entry, and one for entries at equal distances.
TEST_CASE("entries of a list are one box as long as four levels are enough") {
    const RecipePtr child = resized(
        hvector(5, 1, 2000, hvector(7, 1, 200, hvector(9, 1, 16, leaf(UCD_TYPE__INT)))), 0, 20000);
    // Entries of forty children would have five levels together; those of one child have four.
    const BuiltType type(
        hindexed({40, 40, 40, 1, 1, 1}, {0, 900000, 1800000, 2700000, 2730000, 2760000}, child));
    const std::vector<ucd_box_t> boxes = all_boxes(1, type.get());
    ByteMap bytes;
    for (const ucd_box_t &box : boxes) {
        const char *wrong = walk(box, bytes);
        INFO((wrong == nullptr ? "" : wrong));
        CHECK(wrong == nullptr);
    }
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

} // namespace boxes_test
