// What a move's range is to kernels, at the ends of what their 31-bit positions and 32-bit strides
// hold: moves of that size are not run.
#include "plan/move_range.h"

#include "support/catch.hpp"

#include <cstdint>

namespace gpu_move_range_test {

using namespace ucd;
using namespace ucd::gpu;

namespace {

Shape two_levels(int64_t stride) {
    Shape shape;
    shape.levels = 2;
    shape.level[0] = {.count = uint64_t{1} << 50, .each = 4096, .stride = 16384};
    shape.level[1] = {.count = 256, .each = 16, .stride = stride};
    return shape;
}

ShapeLevel by_reference(Element element, bool small, int64_t unit) {
    static const int64_t some_indices[1] = {};
    ShapeLevel level;
    level.kind = LevelKind::indexed_block;
    level.indices = {some_indices, element, small, unit};
    return level;
}

} // namespace

TEST_CASE("positions count from the prefix that a range skips") {
    const Shape shape = two_levels(64);
    for (const int shift : {0, 1, 2, 3, 4}) {
        const uint32_t word = 1U << shift;
        // The first end that does not fit: a vector more than that must have a position, too.
        const uint64_t most = (max_positions - vector_bytes) << shift;
        for (const uint64_t skipped : {uint64_t{0}, uint64_t{4096}, uint64_t{4096} << 40})
            for (const uint64_t rest : {uint64_t{0}, uint64_t{16}, uint64_t{4080}}) {
                const uint64_t offset = skipped + rest;
                CHECK(skipped_bytes(shape, offset) == skipped);
                CHECK(fits_nest(shape, skipped, Slice{offset, 1}, word));
                CHECK(fits_nest(shape, skipped, Slice{offset, most - rest - 1}, word));
                CHECK_FALSE(fits_nest(shape, skipped, Slice{offset, most - rest}, word));
            }
    }
    CHECK_FALSE(fits_nest(Shape{}, 0, Slice{0, 1}, 1));
    CHECK(skipped_bytes(Shape{}, 5000) == 0);
    Shape runs = shape;
    runs.level[0].kind = LevelKind::indexed;
    CHECK(skipped_bytes(runs, 5000) == 0);
}

TEST_CASE("strides in words have 32 bits and a sign") {
    for (const int shift : {0, 2, 4}) {
        const uint32_t word = 1U << shift;
        const auto fits = [&](int64_t words) {
            return fits_nest(two_levels(words * word), 0, Slice{0, 64}, word);
        };
        CHECK(fits(INT32_MAX));
        CHECK_FALSE(fits(int64_t{INT32_MAX} + 1));
        CHECK(fits(INT32_MIN));
        CHECK_FALSE(fits(int64_t{INT32_MIN} - 1));
    }
}

TEST_CASE("children before a range are skipped, by stride or by entry of a list") {
    NestList list{};
    ShapeLevel level{.count = 100, .each = 48, .stride = -160};
    uintptr_t typed = 1 << 20;
    CHECK(skip_children(level, 48 * 7 + 47, typed, list) == 48 * 7);
    CHECK(typed == (1 << 20) - 160 * 7);
    CHECK(list.displacements == 0);

    level.kind = LevelKind::indexed_block;
    list.displacements = 1000;
    list.displacement_unit = 4; // entries of 32 bits
    CHECK(skip_children(level, 48 * 3, typed, list) == 48 * 3);
    CHECK(list.displacements == 1000 + 3 * 4);
    list.displacement_unit = 0; // of 64
    CHECK(skip_children(level, 48 * 3 - 1, typed, list) == 48 * 2);
    CHECK(list.displacements == 1012 + 2 * 8);
    CHECK(typed == (1 << 20) - 160 * 7);

    level.kind = LevelKind::indexed;
    CHECK(skip_children(level, 4800, typed, list) == 0);
    CHECK(list.displacements == 1028);
}

TEST_CASE("kernels read a caller's indices of some elements and units") {
    CHECK(reads_indices(by_reference(Element::int32, false, 16), 4));
    CHECK(reads_indices(by_reference(Element::uint32, true, 16), 4));
    CHECK_FALSE(reads_indices(by_reference(Element::uint32, false, 16), 4));
    CHECK(reads_indices(by_reference(Element::int64, false, int64_t{1} << 50), 4));
    CHECK(reads_indices(by_reference(Element::uint64, false, 0), 4));
    CHECK_FALSE(reads_indices(by_reference(Element::int32, false, 0), 0));
    CHECK(reads_indices(by_reference(Element::int32, false, int64_t{INT32_MAX} * 8), 3));
    CHECK_FALSE(
        reads_indices(by_reference(Element::int32, false, (int64_t{INT32_MAX} + 1) * 8), 3));

    // Such a level decides whether the shape fits, and its list says how entries are read.
    Shape shape = two_levels(64);
    shape.level[0] = by_reference(Element::uint32, false, 16);
    shape.level[0].each = 4096;
    CHECK_FALSE(fits_nest(shape, 0, Slice{0, 64}, 16));
    shape.level[0].indices.small = true;
    CHECK(fits_nest(shape, 0, Slice{0, 64}, 16));
    const NestList narrow = nest_list(shape.level[0], 8, 0);
    CHECK(narrow.displacements == reinterpret_cast<uintptr_t>(shape.level[0].indices.indices));
    CHECK(narrow.displacement_unit == 2);
    const NestList wide = nest_list(by_reference(Element::int64, false, 24), 8, 0);
    CHECK(wide.displacement_unit == 0);
    CHECK(wide.first == 24);
}

TEST_CASE("the vectors that hold a range") {
    for (const uintptr_t start : {uintptr_t{0}, uintptr_t{4096}})
        for (uintptr_t head = 0; head < 16; ++head)
            for (uint64_t length = 1; length < 50; ++length) {
                const Vectors vectors(start + head, length);
                CHECK(vectors.start == start);
                CHECK(vectors.head == head);
                // The last of them holds the last byte, and ends where the range does.
                CHECK(vectors.count == (head + length - 1) / 16 + 1);
                CHECK(vectors.tail == (head + length - 1) % 16 + 1);
            }
    CHECK(common_alignment(0) == 16);
    CHECK(common_alignment(48) == 16);
    CHECK(common_alignment(24) == 8);
    CHECK(common_alignment(7) == 1);
    CHECK(grid_for(1000, 0) == 1000);
    CHECK(grid_for(1000, 7) == 7);
    CHECK(grid_for(7, 1000) == 7);
    CHECK(grid_for(uint64_t{1} << 31, 0) == (uint32_t{1} << 31) - 1);
    CHECK(grid_for(uint64_t{1} << 40, 0) == (uint32_t{1} << 31) - 1);
}

} // namespace gpu_move_range_test
