// Segments by number and by byte, against all of them listed: where neighbours touch, within a
// layout and across its iterations, one segment has bytes of several children.
#include "support/catch.hpp"

#include "support/moves/calls.hpp"
#include "support/moves/recipe_build.hpp"
#include "support/random/random_cases.hpp"
#include "unit/disguise.hpp"

#include "layout/segments.h"
#include "prepared/type_cache.h"

#include <algorithm>

namespace segments_test {

using namespace ucdtest;

namespace {

// `count` times a shape, as the test and as the library see it.
struct Subject {
    std::vector<Segment> all;
    std::vector<std::uint64_t> starts; // packed offsets of the segments, and of the end
    BuiltType type;
    std::size_t count = 1;
    const ucd::Layout *layout = nullptr;
    ucd::Node top;
};

Subject make_subject(Case &one, const Shape &shape, std::size_t count, std::intptr_t extent) {
    Subject s;
    s.count = count;
    s.all = segments_of(shape, count, extent);
    s.starts.push_back(0);
    for (const Segment &piece : s.all) s.starts.push_back(s.starts.back() + piece.bytes);
    const RecipePtr inner = one.rng().chance(50) ? plainly(shape) : disguised(one.rng(), shape, {});
    const RecipePtr recipe = recipes::resized(inner, one.rng().between(-50, 50), extent);
    one.about("type", recipe, count);
    s.type = BuiltType(recipe);
    const ucd::Type *type = nullptr;
    if (!ucd::resolve(s.type.get(), "type", type).ok()) one.fail("no type");
    s.layout = &ucd::layout_of(*type);
    s.top = ucd::repeat(s.layout->top(), s.layout->root, count, extent);
    return s;
}

// The segments of bytes [offset, offset + length) of the stream.
std::vector<Segment> cut(const Subject &s, std::uint64_t offset, std::uint64_t length) {
    std::vector<Segment> found;
    if (length == 0) return found;
    auto i = static_cast<std::size_t>(std::upper_bound(s.starts.begin(), s.starts.end(), offset) -
                                      s.starts.begin() - 1);
    for (std::uint64_t end = offset + length; offset < end; ++i) {
        const std::uint64_t skipped = offset - s.starts[i];
        const std::uint64_t bytes = std::min(s.all[i].bytes - skipped, end - offset);
        found.push_back({s.all[i].displ + static_cast<std::intptr_t>(skipped), bytes});
        offset += bytes;
    }
    return found;
}

void check_summary(Case &one, const Subject &s) {
    const ucd::Segments &n = s.top.segments;
    if (n.count != s.all.size()) one.fail(n.count, " segments, not ", s.all.size());
    if (n.first_bytes != s.all.front().bytes || n.last_bytes != s.all.back().bytes)
        one.fail("first of ", n.first_bytes, " bytes, last of ", n.last_bytes, "; not ",
                 s.all.front().bytes, " and ", s.all.back().bytes);
    ucd_layout_t layout = {};
    layout.struct_size = sizeof layout;
    one.succeed(ucd_get_layout(s.count, s.type.get(), &layout), "ucd_get_layout");
    const auto shorter = [](const Segment &a, const Segment &b) { return a.bytes < b.bytes; };
    const auto [least, most] = std::minmax_element(s.all.begin(), s.all.end(), shorter);
    if (layout.segments != s.all.size() || layout.min_segment != least->bytes ||
        layout.max_segment != most->bytes)
        one.fail("ucd_get_layout: ", layout.segments, " segments of ", layout.min_segment, " to ",
                 layout.max_segment, "; not ", s.all.size(), " of ", least->bytes, " to ",
                 most->bytes);
    std::intptr_t low = s.all[0].displ, high = low;
    for (const Segment &piece : s.all) {
        low = std::min(low, piece.displ);
        high = std::max(high, piece.displ + static_cast<std::intptr_t>(piece.bytes));
    }
    if (layout.low != low || layout.high != high)
        one.fail("ucd_get_layout: from ", layout.low, " to ", layout.high, "; not ", low, " to ",
                 high);
}

void check_start(Case &one, const Subject &s, std::size_t index) {
    const std::uint64_t start = ucd::segment_start(*s.layout, s.top, index);
    if (start != s.starts[index])
        one.fail("segment ", index, " starts at byte ", start, ", not ", s.starts[index]);
}

void check_range(Case &one, const Subject &s, std::uint64_t offset, std::uint64_t length,
                 std::uint64_t room) {
    std::vector<Segment> wanted = cut(s, offset, length), found;
    if (wanted.size() > room) wanted.resize(room);
    const std::uint64_t number = ucd::list_segments(
        *s.layout, s.top, offset, length, room, [&](std::uint64_t i, const ucd::Segment &piece) {
            if (i != found.size()) one.fail("segments out of order");
            found.push_back({piece.displ, piece.bytes});
        });
    if (number != wanted.size() || found != wanted)
        one.fail(length, " bytes from ", offset, ", room ", room, ": other segments");
}

void check_calls(Case &one, const Subject &s, std::size_t index) {
    Rng &rng = one.rng();
    std::uintptr_t length = untouched, bytes = untouched;
    one.succeed(ucd_iov_len(s.count, s.type.get(), &length), "ucd_iov_len");
    if (length != s.all.size()) one.fail("ucd_iov_len: ", length, ", not ", s.all.size());

    std::vector<iovec> entries(1 + rng.below(20));
    one.succeed(
        ucd_iov(nullptr, s.count, s.type.get(), index, entries.data(), entries.size(), &length),
        "ucd_iov");
    if (length != std::min(entries.size(), s.all.size() - index))
        one.fail("ucd_iov from ", index, ": ", length, " entries");
    for (std::size_t i = 0; i < length; ++i)
        if (reinterpret_cast<std::intptr_t>(entries[i].iov_base) != s.all[index + i].displ ||
            entries[i].iov_len != s.all[index + i].bytes)
            one.fail("ucd_iov from ", index, ": wrong entry ", i);

    // A limit at the end of a segment, and one byte short of it.
    const std::size_t before = index > 0 ? index - 1 : 0;
    for (const std::size_t short_of : {std::size_t{0}, std::size_t{1}}) {
        if (s.starts[index] < short_of) continue;
        one.succeed(
            ucd_iov_len_max(s.count, s.type.get(), s.starts[index] - short_of, &length, &bytes),
            "ucd_iov_len_max");
        const std::size_t most = short_of == 0 ? index : before;
        if (length != most || bytes != s.starts[most])
            one.fail("ucd_iov_len_max of ", s.starts[index] - short_of, " bytes: ", length,
                     " segments of ", bytes, " bytes, not ", most, " of ", s.starts[most]);
    }
}

// Distances of the iterations at which they touch, overlap, or have nothing to do with each other.
std::intptr_t random_extent(Rng &rng, const Shape &shape) {
    const std::vector<Segment> all = segments_of(shape, 1, 0);
    const std::intptr_t end = all.back().displ + static_cast<std::intptr_t>(all.back().bytes);
    switch (rng.below(5)) {
    case 0:
    case 1: return end - all.front().displ;
    case 2: return -(shape.high - shape.low) - 8;
    case 3: return rng.between(-20, 20);
    default: return shape.high - shape.low + rng.between(0, 64);
    }
}

void check_at_random(Case &one, const Subject &s, int times) {
    Rng &rng = one.rng();
    const std::size_t n = s.all.size();
    const std::uint64_t total = s.starts.back();
    for (int i = 0; i < times; ++i) {
        check_start(one, s, rng.below(n + 1));
        check_calls(one, s, rng.below(n + 1));
        const std::uint64_t offset = rng.below(total + 1);
        check_range(one, s, offset, rng.mostly_small(total - offset), 1 + rng.mostly_small(100));
    }
}

} // namespace

TEST_CASE("Every segment of small layouts, and every byte") {
    run_cases("small segments", 3000, [](Case &one) {
        ShapeOptions options;
        options.depth = 1 + static_cast<int>(one.rng().below(4));
        options.max_entries = 5;
        options.max_blocks = 60;
        const ShapePtr shape = random_shape(one.rng(), options);
        const Subject s =
            make_subject(one, *shape, 1 + one.rng().below(4), random_extent(one.rng(), *shape));
        check_summary(one, s);
        for (std::size_t i = 0; i <= s.all.size(); ++i) {
            check_start(one, s, i);
            check_calls(one, s, i);
        }
        const std::uint64_t total = s.starts.back();
        for (std::uint64_t offset = 0; offset <= total; ++offset) {
            check_range(one, s, offset, total - offset, s.all.size());
            check_range(one, s, offset, one.rng().below(total - offset + 1),
                        1 + one.rng().below(5));
        }
    });
}

TEST_CASE("Segments of layouts of many levels") {
    run_cases("nested segments", 3000, [](Case &one) {
        ShapeOptions options;
        options.depth = 2 + static_cast<int>(one.rng().below(5));
        options.max_blocks = 5000;
        const ShapePtr shape = random_shape(one.rng(), options);
        const Subject s =
            make_subject(one, *shape, 1 + one.rng().below(4), random_extent(one.rng(), *shape));
        check_summary(one, s);
        for (std::size_t i = 0; i <= s.all.size(); ++i) check_start(one, s, i);
        check_at_random(one, s, 10);
    });
}

TEST_CASE("Segments of layouts of 100000 blocks") {
    run_cases("many segments", 30, [](Case &one) {
        ShapeOptions options;
        options.depth = 1 + static_cast<int>(one.rng().below(4));
        options.max_entries = one.rng().chance(50) ? 60 : 100000;
        options.max_blocks = 200000;
        const ShapePtr shape = random_shape(one.rng(), options);
        const Subject s =
            make_subject(one, *shape, 1 + one.rng().below(3), random_extent(one.rng(), *shape));
        check_summary(one, s);
        for (std::size_t i = 0; i <= s.all.size(); ++i) check_start(one, s, i);
        check_at_random(one, s, 100);
    });
}

TEST_CASE("Blocks of the same bytes over and over are segments of their own") {
    const BuiltType type(
        recipes::ndarray({1 << 20, 1 << 20}, {0, 0}, recipes::leaf(UCD_TYPE__INT)));
    std::uintptr_t length = 0, bytes = 0;
    REQUIRE(ucd_iov_len(1, type.get(), &length) == UCD_SUCCESS);
    CHECK(length == std::uintptr_t{1} << 40);
    iovec entries[2];
    REQUIRE(ucd_iov_bytes(nullptr, 1, type.get(), (std::uintptr_t{1} << 41) + 2, 4, entries, 2,
                          &length, &bytes) == UCD_SUCCESS);
    CHECK(length == 2);
    CHECK(bytes == 4);
    CHECK(reinterpret_cast<std::intptr_t>(entries[0].iov_base) == 2);
    CHECK(entries[0].iov_len == 2);
    CHECK(reinterpret_cast<std::intptr_t>(entries[1].iov_base) == 0);
    CHECK(entries[1].iov_len == 2);
}

} // namespace segments_test
