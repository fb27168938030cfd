// Size, bounds and layout of random types, against the oracle.
#include "support/catch.hpp"

#include "support/moves/subject.hpp"
#include "support/oracle/box.hpp"

#include <algorithm>

namespace bounds_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

template <class T, class U>
void require_equal(const Case &one, const char *what, T found, U expected) {
    if (std::cmp_not_equal(found, expected)) one.fail(what, " is ", found, ", not ", expected);
}

void check_bounds(const Case &one, const Subject &subject) {
    const TypeMap &map = *subject.map;
    std::uintptr_t size = 0;
    std::intptr_t lb = 0, extent = 0;
    one.succeed(ucd_get_size(subject.type(), &size), "ucd_get_size");
    require_equal(one, "size", size, map.size);
    one.succeed(ucd_get_extent(subject.type(), &lb, &extent), "ucd_get_extent");
    require_equal(one, "lb", lb, map.lb);
    require_equal(one, "extent", extent, map.extent);
    one.succeed(ucd_get_true_extent(subject.type(), &lb, &extent), "ucd_get_true_extent");
    require_equal(one, "true lb", lb, map.true_lb);
    require_equal(one, "true extent", extent, map.true_extent);
}

// The element is the one predefined type of all entries. Where their names differ but not what they
// are (INT and INT32_T), the library may see one type or none; where there is no element at all in
// this many, it may name the type's or none.
bool is_right_element(const Subject &subject, ucd_type_t element) {
    const auto &entries = subject.map->entries;
    const bool nothing = subject.size() == 0;
    if (element == UCD_TYPE__NULL) {
        return nothing || std::any_of(entries.begin(), entries.end(), [&](const Entry &entry) {
                   return entry.type != entries.front().type;
               });
    }
    if (entries.empty() || !is_predefined(element)) return false;
    const Predefined &claimed = predefined(element);
    bool named = false, alike = true;
    for (const Entry &entry : entries) {
        named = named || entry.type == &claimed;
        alike = alike && entry.type->type_class == claimed.type_class &&
                entry.type->size == claimed.size && entry.type->align == claimed.align;
    }
    return named && alike;
}

ucd_layout_t layout_of(const Case &one, std::uintptr_t count, ucd_type_t type) {
    ucd_layout_t layout = {};
    layout.struct_size = sizeof layout;
    one.succeed(ucd_get_layout(count, type, &layout), "ucd_get_layout");
    return layout;
}

void check_box(const Case &one, const Subject &subject, const ucd_layout_t &layout,
               const std::vector<Segment> &pieces) {
    if (layout.box_dims > 4) one.fail("box_dims is ", layout.box_dims);
    for (std::uint32_t k = layout.box_dims; k < 4; ++k) {
        if (layout.box_count[k] != 0 || layout.box_stride[k] != 0) {
            one.fail("box entry ", k, " of ", layout.box_dims, " is not 0");
        }
    }
    if (layout.box_dims == 0) {
        if (layout.box_start != 0 || layout.box_block != 0) one.fail("no box, but not all is 0");
        if (pieces.size() == 1) one.fail("one contiguous piece is no box");
        return;
    }
    if (pieces.empty()) one.fail("an empty layout is a box");
    if (!box_is(layout, subject.bytes)) one.fail("the box is not the byte map");
    if (pieces.size() == 1) {
        require_equal(one, "box_dims of one piece", layout.box_dims, 1);
        require_equal(one, "box_count of one piece", layout.box_count[0], 1);
        require_equal(one, "box_block of one piece", layout.box_block, pieces[0].bytes);
        require_equal(one, "box_stride of one piece", layout.box_stride[0], pieces[0].bytes);
    }
}

void check_layout(const Case &one, const Subject &subject) {
    const ucd_layout_t layout = layout_of(one, subject.count, subject.type());
    const std::vector<Segment> pieces = segments(subject.bytes);
    std::size_t shortest = 0, longest = 0;
    for (const Segment &piece : pieces) {
        shortest = shortest == 0 ? piece.bytes : std::min(shortest, piece.bytes);
        longest = std::max(longest, piece.bytes);
    }
    require_equal(one, "struct_size", layout.struct_size, sizeof layout);
    require_equal(one, "contiguous", layout.contiguous, pieces.size() <= 1 ? 1 : 0);
    require_equal(one, "flags", layout.flags, 0);
    require_equal(one, "bytes", layout.bytes, subject.size());
    require_equal(one, "segments", layout.segments, pieces.size());
    require_equal(one, "min_segment", layout.min_segment, shortest);
    require_equal(one, "max_segment", layout.max_segment, longest);
    require_equal(one, "low", layout.low, subject.range.low);
    require_equal(one, "high", layout.high, subject.range.high);
    if (!is_right_element(subject, layout.element)) {
        one.fail("element is ", reinterpret_cast<std::uintptr_t>(layout.element));
    }
    check_box(one, subject, layout, pieces);
}

// The same type for another count.
void recount(Subject &subject, std::size_t count) {
    subject.count = count;
    subject.bytes = byte_map(*subject.map, count);
    subject.range = touched_range(subject.bytes);
}

// For types that are easier to name than to draw.
void check_named(const RecipePtr &recipe, std::size_t count) {
    Case one("named types", 0);
    Subject subject = make_subject(one, recipe, count);
    check_bounds(one, subject);
    check_layout(one, subject);
    SUCCEED();
}

} // namespace

TEST_CASE("bounds and layout of random types") {
    run_cases("bounds", 80000, [](Case &one) {
        Subject subject = random_subject(one);
        check_bounds(one, subject);
        check_layout(one, subject);
        const std::size_t drawn = subject.count;
        for (const std::size_t count : {std::size_t{0}, std::size_t{1}}) {
            if (count == drawn) continue;
            recount(subject, count);
            check_layout(one, subject);
        }
    });
}

TEST_CASE("bounds and layout of every predefined type") {
    for (const Predefined &type : all_predefined()) {
        for (const std::size_t count : {0, 1, 2, 7}) {
            check_named(leaf(type.handle), count);
            check_named(contig(static_cast<std::intptr_t>(count), leaf(type.handle)), 1);
        }
    }
}

TEST_CASE("every regular box of up to four dimensions is reported as one", "[canonical]") {
    run_cases("box", 10000, [](Case &one) {
        const Subject subject = random_subject(one);
        const std::size_t dims = box_dimensions(segments(subject.bytes));
        const ucd_layout_t layout = layout_of(one, subject.count, subject.type());
        if (dims >= 1 && dims <= 4 && layout.box_dims == 0) {
            one.fail("a box of ", dims, " dimensions is not recognised");
        }
    });
}

TEST_CASE("layout: the box of what DMA engines and cudaMemcpy2D take") {
    const auto require_box = [](const RecipePtr &recipe, std::size_t count, std::size_t dims) {
        Case one("named boxes", 0);
        const Subject subject = make_subject(one, recipe, count);
        const ucd_layout_t layout = layout_of(one, count, subject.type());
        INFO(to_text(*recipe));
        REQUIRE(layout.box_dims == dims);
        REQUIRE(box_is(layout, subject.bytes));
    };
    const RecipePtr number = leaf(UCD_TYPE__DOUBLE);
    require_box(vector(5, 2, 3, number), 1, 1);
    require_box(hvector(5, 2, -100, number), 1, 1);
    require_box(subarray({6, 5, 4}, {3, 2, 2}, {1, 2, 1}, UCD_ORDER__C, number), 1, 2);
    require_box(subarray({6, 5, 4}, {3, 2, 2}, {1, 2, 1}, UCD_ORDER__FORTRAN, number), 3, 3);
    require_box(ndarray({2, 3, 4, 5}, {8, 2000, -80, 400}, number), 1, 4);
}

TEST_CASE("layout: a shorter struct of the caller's is respected") {
    struct {
        ucd_layout_t layout;
    } memory;
    std::fill_n(reinterpret_cast<unsigned char *>(&memory), sizeof memory, 0xee);
    memory.layout.struct_size = offsetof(ucd_layout_t, segments);
    REQUIRE(ucd_get_layout(3, UCD_TYPE__INT, &memory.layout) == UCD_SUCCESS);
    REQUIRE(memory.layout.struct_size == offsetof(ucd_layout_t, segments));
    REQUIRE(memory.layout.bytes == 12);
    REQUIRE(memory.layout.segments == 0xeeeeeeeeeeeeeeeeu);
    REQUIRE(memory.layout.max_segment == 0xeeeeeeeeeeeeeeeeu);
}

} // namespace bounds_test
