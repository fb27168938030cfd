// From how many bytes on libucd-mpi-preload reads a type, and how long it may measure.

#include "preload/shapes.h"
#include "preload/tuning.h"
#include "support/catch.hpp"

#include <cstdint>
#include <set>

using namespace ucd_mpi;
using namespace std::chrono_literals;

TEST_CASE("lists whose length changes with each message have few shapes") {
    std::set<Shape> shapes;
    for (std::int64_t particles = 256; particles < 512; ++particles)
        shapes.insert(shape_of(particles * 56, 20000 * 64 - particles));
    CHECK(shapes.size() <= 4);
    // What differs by half differs.
    CHECK(shape_of(1 << 14, 1 << 20) != shape_of(3 << 13, 1 << 20));
    CHECK(shape_of(1 << 14, 1 << 20) != shape_of(1 << 14, 3 << 19));
    CHECK(shape_of(1 << 20, 1 << 14) != shape_of(1 << 14, 1 << 20));
    // All of them are shapes, and negative extents too.
    for (const std::int64_t n : {INT64_MIN, INT64_C(-1), INT64_C(0), INT64_C(1), INT64_MAX})
        CHECK(shape_of(n, n) != 0);
}

TEST_CASE("a type is read later if reading one of its shape did not pay") {
    Shapes shapes;
    const Shape shape = shape_of(17000, 1 << 20), other = shape_of(17000, 1 << 14);
    CHECK(shapes.bytes_to_read(shape) == bytes_to_read_first);
    CHECK(!shapes.is_unsettled(shape));
    shapes.did_not_pay(shape);
    CHECK(shapes.bytes_to_read(shape) == bytes_to_read_again);
    CHECK(shapes.is_unsettled(shape));
    CHECK(shapes.bytes_to_read(other) == bytes_to_read_first);
    CHECK(!shapes.is_unsettled(other));
}

TEST_CASE("what was measured of a shape counts, within bounds") {
    Shapes shapes;
    const Shape shape = shape_of(17000, 1 << 20);
    shapes.did_not_pay(shape);
    shapes.settle(shape, 16000);
    CHECK(shapes.bytes_to_read(shape) == 16000);
    CHECK(!shapes.is_unsettled(shape));
    shapes.did_not_pay(shape);
    CHECK(shapes.bytes_to_read(shape) == 16000);
    shapes.settle(shape, 0);
    CHECK(shapes.bytes_to_read(shape) == min_bytes_to_read);
    shapes.settle(shape, UINT64_MAX);
    CHECK(shapes.bytes_to_read(shape) == max_bytes_to_read);
}

TEST_CASE("a later shape takes the place of an earlier one") {
    Shapes shapes;
    const Shape shape = shape_of(17000, 1 << 20);
    const Shape later = shape ^ 2; // in the same place
    shapes.settle(shape, 16000);
    shapes.did_not_pay(later);
    CHECK(shapes.bytes_to_read(later) == bytes_to_read_again);
    CHECK(shapes.is_unsettled(later));
    CHECK(shapes.bytes_to_read(shape) == bytes_to_read_first);
    CHECK(!shapes.is_unsettled(shape));
}

TEST_CASE("measuring takes at most a hundredth of the time") {
    MeasuringTime time;
    CHECK(!time.is_left(0ms));
    CHECK(!time.is_left(399ms)); // one may take 4 ms
    CHECK(time.is_left(400ms));
    time.spend(3ms);
    CHECK(!time.is_left(699ms));
    CHECK(time.is_left(700ms));
    time.spend(1h);
    CHECK(!time.is_left(100h));
    CHECK(time.is_left(101h));
}
