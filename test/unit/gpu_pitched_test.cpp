// Copies of rows and planes by copy engines: what exceeds the limits of one copy, and copies
// between two layouts. Where only sizes matter, there is no memory behind them.
#include "unit/gpu_members.hpp"
#include "unit/layouts_by_hand.hpp"

#include "pitched_copies.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpu_pitched_test {

using namespace ucd;
using namespace ucd::hostgpu;
using namespace ucdtest;

namespace {

constexpr std::uint64_t too_many = max_rows + 6;

// The copies of rows of a byte, in planes.
std::vector<PitchedCopy> copies_of(std::uint64_t planes, std::int64_t plane_stride,
                                   std::uint64_t rows, std::int64_t row_stride) {
    Box box{};
    box.block = 1;
    box.dims = 2;
    box.count[0] = planes;
    box.stride[0] = plane_stride;
    box.count[1] = rows;
    box.stride[1] = row_stride;
    std::vector<PitchedCopy> copies;
    const auto keep = [&copies](const PitchedCopy &copy) {
        copies.push_back(copy);
        return true;
    };
    CHECK(for_each_copy(box, pitched_levels(box), keep));
    return copies;
}

// How many copies of the vendor's API a pack by engines is.
int copies_of_pack(const FreshBackend &backend, const OwnedLayout &layout) {
    const auto plan = backend.plan(layout);
    Move move = move_of(*plan, reinterpret_cast<char *>(std::uintptr_t{1} << 44),
                        reinterpret_cast<char *>(std::uintptr_t{1} << 46), layout->top().bytes,
                        Direction::pack);
    move.to_kind = MemoryKind::pinned;
    move.limits.engine = Engine::dma;
    mock::counts.copies = mock::counts.launches = 0;
    Owner<Event> done;
    REQUIRE(backend->launch(0, std::span(&move, 1), done).ok());
    CHECK(FreshBackend::wait(done).code() == UCD_ERR__DEVICE); // there is no memory
    CHECK(mock::counts.launches == 0);
    return mock::counts.copies;
}

} // namespace

TEST_CASE("planes with more rows between them than a copy may have are copied one by one") {
    constexpr auto limit = static_cast<std::int64_t>(max_rows);
    const std::vector<PitchedCopy> one = copies_of(3, 2 * limit, 4, 2);
    REQUIRE(one.size() == 1);
    CHECK(one[0].planes == 3);
    CHECK(one[0].plane_stride == 2 * limit);
    const std::vector<PitchedCopy> each = copies_of(3, 2 * (limit + 1), 4, 2);
    REQUIRE(each.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(each[i].planes == 1);
        CHECK(each[i].rows == 4);
        CHECK(each[i].start == static_cast<std::int64_t>(i) * 2 * (limit + 1));
    }
}

TEST_CASE("more rows than a copy may have are several copies") {
    constexpr auto plane = static_cast<std::int64_t>(4 * too_many);
    const std::vector<PitchedCopy> copies = copies_of(2, plane, too_many, 3);
    REQUIRE(copies.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        const std::int64_t first = static_cast<std::int64_t>(i / 2) * plane;
        CHECK(copies[i].planes == 1);
        CHECK(copies[i].rows == (i % 2 == 0 ? max_rows : too_many - max_rows));
        CHECK(copies[i].start ==
              first + (i % 2 == 0 ? 0 : 3 * static_cast<std::int64_t>(max_rows)));
    }
    std::uint64_t bytes = 0;
    for (const PitchedCopy &copy : copies) bytes += copy.bytes();
    CHECK(bytes == 2 * too_many);
}

TEST_CASE("more planes than a copy may have are several copies") {
    const std::vector<PitchedCopy> copies = copies_of(too_many, 12, 2, 4);
    REQUIRE(copies.size() == 2);
    CHECK(copies[0].planes == max_planes);
    CHECK(copies[1].planes == too_many - max_planes);
    CHECK(copies[1].start == 12 * static_cast<std::int64_t>(max_planes));
    for (const PitchedCopy &copy : copies) CHECK(copy.rows == 2);
}

TEST_CASE_METHOD(OnBackend, "the driver is given no copy of more rows than it counts") {
    OwnedLayout planes = strided(1, 4, 2);
    repeat_last(planes, 3, 2 * static_cast<std::int64_t>(max_rows));
    CHECK(copies_of_pack(backend, planes) == 1);
    planes = strided(1, 4, 2);
    repeat_last(planes, 3, 2 * static_cast<std::int64_t>(too_many));
    CHECK(copies_of_pack(backend, planes) == 3);
    CHECK(copies_of_pack(backend, strided(1, max_rows, 2)) == 1);
    CHECK(copies_of_pack(backend, strided(1, too_many, 2)) == 2);
    planes = strided(1, 2, 2);
    repeat_last(planes, too_many, 6);
    CHECK(copies_of_pack(backend, planes) == 2);
}

TEST_CASE_METHOD(OnBackend, "engines copy long rows from layout to layout, in planes, too") {
    // Planes of rows of 2000 bytes.
    const auto planes_of = [](std::int64_t row, std::int64_t plane) {
        OwnedLayout layout = strided(2000, 5, row);
        repeat_last(layout, 4, plane);
        return layout;
    };
    const auto is_by_engine = [&](const OwnedLayout &a, const OwnedLayout &b, MemoryKind to_kind,
                                  std::int64_t row, std::int64_t plane, std::int64_t to_row,
                                  std::int64_t to_plane) {
        Rng rng(3);
        const auto from = backend.plan(a), to = backend.plan(b);
        DeviceBytes in(static_cast<std::size_t>(4 * plane)),
            out(static_cast<std::size_t>(4 * to_plane), to_kind);
        in.fill(rng);
        out.fill(rng);
        const std::vector<char> source = in.get();
        std::vector<char> expected = out.get();
        for (std::int64_t i = 0; i < 20; ++i)
            std::copy_n(source.begin() + i / 5 * plane + i % 5 * row, 2000,
                        expected.begin() + i / 5 * to_plane + i % 5 * to_row);
        Move move = copy_of({from.get(), in.at(0), 1, 0}, {to.get(), out.at(0), 1, 0}, 40000);
        move.to_kind = to_kind;
        mock::counts.launches = 0;
        REQUIRE(backend.run(std::span(&move, 1)).ok());
        CHECK(out.get() == expected);
        return mock::counts.launches == 0;
    };
    const auto pinned = MemoryKind::pinned;
    CHECK(is_by_engine(planes_of(2048, 10240), planes_of(3000, 18000), pinned, 2048, 10240, 3000,
                       18000));
    CHECK_FALSE(is_by_engine(planes_of(2048, 10240), planes_of(3000, 18000), MemoryKind::device,
                             2048, 10240, 3000, 18000));
    // Planes that are no whole rows apart on one side.
    CHECK_FALSE(is_by_engine(planes_of(2048, 10240), planes_of(3000, 18008), pinned, 2048, 10240,
                             3000, 18008));
    CHECK_FALSE(is_by_engine(planes_of(2048, 10248), planes_of(3000, 18000), pinned, 2048, 10248,
                             3000, 18000));
}

TEST_CASE_METHOD(OnBackend, "a copy whose rows are in two allocations is begun in parts") {
    const auto check = [&](bool by_planes, MemoryKind typed_kind, Direction direction,
                           Engine engine, bool prepared) {
        constexpr std::size_t row = 2000, apart = 2048;
        const std::size_t rows = by_planes ? 3 : 1, room = rows * apart;
        const auto packed_kind =
            typed_kind == MemoryKind::pinned ? MemoryKind::device : MemoryKind::pinned;
        DeviceBytes one(2 * room, typed_kind), other(2 * room, typed_kind);
        const bool in_order = one.at(0) < other.at(0);
        const DeviceBytes &first = in_order ? one : other, &second = in_order ? other : one;
        // Planes are whole rows apart.
        std::int64_t distance = second.at(0) - first.at(0);
        const std::size_t skipped = (apart - static_cast<std::size_t>(distance) % apart) % apart;
        distance += static_cast<std::int64_t>(skipped);
        REQUIRE(distance <= max_row_stride);
        OwnedLayout layout = by_planes ? strided(row, rows, apart) : block_of(row);
        repeat_last(layout, 2, distance);
        const auto plan = backend.plan(layout);
        DeviceBytes packed(2 * rows * row, packed_kind);
        Rng rng(5);
        one.fill(rng);
        other.fill(rng);
        packed.fill(rng);
        std::vector<char> expected_first = first.get(), expected_second = second.get(),
                          expected_packed = packed.get();
        for (std::size_t i = 0; i < 2 * rows; ++i) {
            char *const typed = i < rows ? &expected_first[i * apart]
                                         : &expected_second[skipped + (i - rows) * apart];
            char *const stream = &expected_packed[i * row];
            const bool pack = direction == Direction::pack;
            std::copy_n(pack ? typed : stream, row, pack ? stream : typed);
        }
        Move move = move_of(*plan, first.at(0), packed.at(0), 2 * rows * row, direction);
        (direction == Direction::pack ? move.from_kind : move.to_kind) = typed_kind;
        (direction == Direction::pack ? move.to_kind : move.from_kind) = packed_kind;
        move.limits.engine = engine;
        mock::counts.launches = mock::counts.copies = 0;
        Owner<Event> done;
        Owner<PreparedLaunch> launch;
        if (prepared) {
            REQUIRE(backend->prepare_launch(0, std::span(&move, 1), launch).ok());
            REQUIRE(backend->launch_prepared(*launch, done).ok());
        } else {
            REQUIRE(backend->launch(0, std::span(&move, 1), done).ok());
        }
        REQUIRE(FreshBackend::wait(done).ok());
        CHECK(mock::counts.launches == 0);
        CHECK(mock::counts.copies == 2);
        CHECK(first.get() == expected_first);
        CHECK(second.get() == expected_second);
        CHECK(packed.get() == expected_packed);
    };
    for (const bool by_planes : {false, true})
        for (const MemoryKind typed : {MemoryKind::device, MemoryKind::pinned})
            for (const Direction direction : {Direction::pack, Direction::unpack})
                for (const Engine engine : {Engine::automatic, Engine::dma})
                    for (const bool prepared : {false, true})
                        check(by_planes, typed, direction, engine, prepared);
}

} // namespace gpu_pitched_test
