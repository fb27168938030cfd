// Long lists that a device moves once as they were described, and then by their layout.
#include "support/catch.hpp"

#include "support/host_vendor/capture.h"
#include "support/moves/device_moves.hpp"
#include "support/moves/strided_move.hpp"
#include "support/random/random_cases.hpp"

#include <string>
#include <vector>

namespace hostgpu_first_use_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

// Places for blocks of so many units, none of which overlap: some touch, and order is random.
Ints random_places(Rng &rng, std::size_t count, std::intptr_t units) {
    Ints places;
    std::intptr_t at = rng.between(-200, 200);
    for (std::size_t i = 0; i < count; ++i) {
        places.push_back(at);
        at += units + (rng.chance(50) ? 0 : rng.between(1, 5));
    }
    if (rng.chance(50))
        for (std::size_t i = count; i > 1; --i) std::swap(places[i - 1], places[rng.below(i)]);
    return places;
}

RecipePtr random_long_list(Rng &rng) {
    const std::size_t count = 1024 + rng.below(200);
    const std::intptr_t block = rng.between(1, 5);
    const RecipePtr element = rng.chance(50) ? leaf(UCD_TYPE__DOUBLE) : leaf(UCD_TYPE__SHORT);
    const RecipePtr child = rng.chance(30) ? contig(3, element) : element;
    RecipePtr list = indexed_block(block, random_places(rng, count, block), child);
    if (rng.chance(30)) list = resized(list, -16, 1 << 20);
    if (rng.chance(20)) list = contig(1, list);
    return list;
}

} // namespace

TEST_CASE("the first and the later moves of long lists") {
    DeviceSession session;
    run_cases("first use on a device", 60, [](Case &one) {
        Rng &rng = one.rng();
        const ReducedSubject what = with_elements(make_subject(one, random_long_list(rng), 1));
        DeviceBuffer typed(rng, what.subject.range, rng.chance(70) ? device0 : pinned);
        DeviceBuffer packed(rng, {0, static_cast<std::intptr_t>(what.subject.size())},
                            rng.chance(70) ? device0 : device1);
        const DeviceMove move{one, UCD_OP__REPLACE, what, typed, packed, 0, what.subject.size()};
        for (int use = 0; use < 3; ++use)
            rng.chance(50) ? check_device_pack(move) : check_device_unpack(move);
    });
}

TEST_CASE("a type that is freed after its first use was started") {
    DeviceSession session;
    constexpr std::intptr_t count = 5000;
    Ints places;
    for (std::intptr_t i = 0; i < count; ++i) places.push_back(i * 7919 % count * 2);
    WholeMove m("freed", indexed_block(1, places, leaf(UCD_TYPE__DOUBLE)), device0, device0);
    set_up_pack(m.move());
    mock::hold();
    ucd_type_t type = UCD_TYPE__NULL;
    REQUIRE(ucd_create_indexed_block(count, 1, places.data(), UCD_TYPE__DOUBLE, UCD_INFO__NULL,
                                     &type) == UCD_SUCCESS);
    REQUIRE(ucd_ipack(m.typed.real_base(), 1, type, 0, m.packed.real_base(), m.bytes(), &m.actual,
                      UCD_INFO__NULL, UCD_OP__REPLACE, &m.request) == UCD_SUCCESS);
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    std::fill(places.begin(), places.end(), 0); // the caller's list is the caller's again
    mock::let_go();
    m.wait_and_check();
}

TEST_CASE("a duplicate of a long list is moved by what was prepared for the list") {
    DeviceSession session;
    mock::Stream stream(0);
    Rng rng(1);
    WholeMove m("duplicates", indexed_block(1, random_places(rng, 2000, 1), leaf(UCD_TYPE__DOUBLE)),
                device0, device0);
    prepare(stream, m.type());
    ucd_type_t once = UCD_TYPE__NULL, twice = UCD_TYPE__NULL;
    REQUIRE(ucd_create_dup(m.type(), UCD_INFO__NULL, &once) == UCD_SUCCESS);
    REQUIRE(ucd_create_dup(once, UCD_INFO__NULL, &twice) == UCD_SUCCESS);
    set_up_pack(m.move());
    MoveList moves = {pack_move(m.typed.real_base(), 1, twice, 0, m.packed.real_base(), m.bytes())};
    const ucd::hostgpu::Graph graph =
        ucd::hostgpu::captured(stream, [&] { CHECK(start_in(stream, moves) == UCD_SUCCESS); });
    ucd::hostgpu::replay(graph, stream);
    finish_in(stream);
    m.check();
    for (ucd_type_t *type : {&once, &twice}) REQUIRE(ucd_free(type) == UCD_SUCCESS);
}

} // namespace hostgpu_first_use_test
