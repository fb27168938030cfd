// What depends on this vendor's figures: which of copy engine and kernel moves between a device and
// pinned memory, and in which chunks data is staged.
#include "support/catch.hpp"

#include "support/host_vendor/capture.h"
#include "support/moves/device_moves.hpp"
#include "support/moves/strided_move.hpp"
#include "support/random/random_cases.hpp"

namespace hostgpu_figures_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

// Launches of kernels for one move of it, whose data is checked.
int launches(const RecipePtr &recipe, Memory typed_memory, Memory packed_memory, bool pack) {
    WholeMove whole("engines", recipe, typed_memory, packed_memory);
    mock::counts.launches = 0;
    check_device_move(whole.move(), pack, "auto");
    return mock::counts.launches;
}

RecipePtr rows(std::intptr_t count) {
    return vector(count, 2, 16, leaf(UCD_TYPE__DOUBLE));
}

// At distances that no box has.
RecipePtr blocks(std::intptr_t bytes) {
    return hindexed_block(bytes, {0, bytes + 64, 3 * bytes, 5 * bytes + 192, 6 * bytes + 256},
                          leaf(UCD_TYPE__BYTE));
}

// Of 4 KiB each.
RecipePtr many_blocks(std::intptr_t count) {
    Ints places;
    for (std::intptr_t i = 0; i < count; ++i) places.push_back(4224 * i + i % 3 * 8);
    return hindexed_block(4096, places, leaf(UCD_TYPE__BYTE));
}

// Lists of all kinds, whose blocks an engine copies one by one.
void unpack_list_by_engine(Case &one) {
    Rng &rng = one.rng();
    Ints lengths, places;
    std::intptr_t at = rng.between(-1000, 1000);
    for (std::size_t n = 2 + rng.below(40); n > 0; --n) {
        lengths.push_back(rng.between(4096, 4400));
        places.push_back(at);
        at += lengths.back() + rng.between(1, 100);
    }
    WholeMove whole("lists by engines", hindexed(lengths, places, leaf(UCD_TYPE__BYTE)), device1,
                    pinned, UCD_OP__REPLACE, 1 + rng.below(2), one.number());
    const std::size_t from = rng.below(whole.bytes());
    mock::counts.launches = 0;
    check_device_unpack(whole.part(from, rng.below(whole.bytes() - from + 1)), "auto");
    if (mock::counts.launches != 0) one.fail("a kernel moved it");
}

} // namespace

TEST_CASE("the built-in figures choose engine or kernel", "[bulk]") {
    DeviceSession session;
    // 16 bytes: an engine takes about 1 ns a row more, and 2.6 us less in all.
    REQUIRE(launches(rows(1000), device0, pinned, true) == 0);
    REQUIRE(launches(rows(3000), device0, pinned, true) == 1);
    REQUIRE(launches(rows(1000), device0, pinned, false) == 0);
    REQUIRE(launches(rows(3000), device0, pinned, false) == 1);
    // Rows in pinned memory, where kernels are never faster: unpacking goes there.
    REQUIRE(launches(rows(3000), pinned, device0, true) == 0);
    REQUIRE(launches(rows(3000), pinned, device0, false) == 0);
    // But they load several rows at a time if these are near.
    const RecipePtr near = vector(3000, 2, 3, leaf(UCD_TYPE__DOUBLE));
    REQUIRE(launches(near, pinned, device0, true) == 1);
    REQUIRE(launches(near, pinned, device0, false) == 0);
    // Between devices' memory always a kernel.
    REQUIRE(launches(rows(10), device0, device0, true) == 1);
    REQUIRE(launches(blocks(256 * 1024), device0, pinned, true) == 0);
    REQUIRE(launches(blocks(256 * 1024), device0, pinned, false) == 0);
    REQUIRE(launches(blocks(256 * 1024 - 8), device0, pinned, true) == 1);
    REQUIRE(launches(blocks(256 * 1024), device0, device0, true) == 1);
}

TEST_CASE("lists of blocks from pinned memory") {
    DeviceSession session;
    REQUIRE(launches(blocks(4096), device1, pinned, true) == 1);
    REQUIRE(launches(blocks(4096), device1, pinned, false) == 0);
    REQUIRE(launches(blocks(4088), device1, pinned, false) == 1);
    // So many that a range of them, which may end within blocks, is 4096 copies at most.
    REQUIRE(launches(many_blocks(4094), device1, pinned, false) == 0);
    REQUIRE(launches(many_blocks(4095), device1, pinned, false) == 1);

    run_cases("engines for lists", 60, unpack_list_by_engine);
}

TEST_CASE("staged reductions: by the side that has the result") {
    DeviceSession session;
    // Through chunks of 512 bytes, of which 2800 need six. Copy engines fill them, and do not
    // reduce.
    for (const Memory b : {pageable, device1}) {
        StridedMove staged("staged", 700, device0, b);
        staged.op = UCD_OP__SUM;
        mock::counts.launches = mock::counts.copies = 0;
        staged.pack_and_check();
        CHECK(mock::counts.launches == (b == pageable ? 0 : 6));
        CHECK(mock::counts.copies == 6);
    }
    StridedMove staged("staged", 700, pageable, device1);
    staged.op = UCD_OP__SUM;
    mock::counts.launches = 0;
    staged.pack_and_check();
    CHECK(mock::counts.launches == 6);
}

} // namespace hostgpu_figures_test
