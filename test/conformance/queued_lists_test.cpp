// Lists of moves and plans in streams, and work that the device holds back; on devices that are
// threads.
#include "support/catch.hpp"

#include "support/moves/listed_moves.hpp"
#include "support/moves/scattered.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace queued_lists_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

TEST_CASE("lists and plans in streams") {
    DeviceSession session;
    mock::Stream stream(0);
    run_cases("lists in streams", 200, [&](Case &one) {
        Rng &rng = one.rng();
        const ucd_op_t op = random_device_op(rng);
        Listed list = random_list(one, op, {device0, pinned, managed});
        std::erase_if(list.members,
                      [](const ListedMove &m) { return m.what.subject.map->by_reference; });
        list.set_up();
        MoveList moves = list.descs();
        one.succeed(start_in(stream, moves, UCD_INFO__NULL, op), "ucd_move_stream");
        stream.synchronise();
        list.check(moves);
        ucd_plan_t plan = UCD_PLAN__NULL;
        one.succeed(ucd_plan_create(moves.data(), moves.size(), UCD_INFO__NULL, op, &plan),
                    "ucd_plan_create");
        for (int round = 0; round < 2; ++round) {
            list.set_up();
            one.succeed(ucd_plan_start_stream(plan, native(stream)), "ucd_plan_start_stream");
            if (round == 1) one.succeed(ucd_plan_free(&plan), "ucd_plan_free");
            stream.synchronise();
            if (!stream.failure().empty()) one.fail(stream.failure());
            list.check(moves);
            if (round > 0) continue;
            list.run_with_others(moves, [&](const void *const *in, void *const *out) {
                one.succeed(ucd_plan_start_with_stream(plan, in, out, native(stream)),
                            "ucd_plan_start_with_stream");
                stream.synchronise();
            });
        }
    });
}

// The host moves the first member, too, only when the indices of the second one are there.
TEST_CASE("types of a list may be freed while indices are on their way") {
    DeviceSession session;
    const std::vector<std::int64_t> places = {3, 1, 0, 2};
    const double values[] = {1, 2, 3, 4};
    double found[4] = {};
    const auto indices = copy_in(device0, bytes_of_indices(places, UCD_TYPE__INT32_T));
    BuiltType type(
        indexed_block_ref(1, places, UCD_TYPE__INT32_T, 8, 0, 32, leaf(UCD_TYPE__DOUBLE), indices));
    StridedMove first("first", 200, pageable, pageable);
    set_up_pack(first.move());
    MoveList moves = {pack_of(first.move()),
                      pack_move(values, 1, type.get(), 0, found, sizeof found)};
    ucd_request_t request = UCD_REQUEST__NULL;
    mock::hold();
    REQUIRE(start(moves, &request) == UCD_SUCCESS);
    REQUIRE(request != UCD_REQUEST__NULL);
    first.free_type();
    type = BuiltType();
    mock::let_go();
    REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    first.check();
    for (std::size_t i = 0; i < 4; ++i) CHECK(found[i] == values[places[i]]);
}

TEST_CASE("a stream's device must reach all parts of an object") {
    DeviceSession session;
    mock::Stream stream(0);
    Scattered near({device0, pinned, device0}, true), far({device0, pageable}, true);
    DeviceBuffer packed(near.one.rng(), {0, static_cast<std::intptr_t>(near.bytes)}, device0);
    std::uintptr_t actual = 0;
    near.set(3);
    const std::vector<int> expected = near.stream();
    REQUIRE(ucd_pack_stream(nullptr, 1, near.type, 0, packed.real_base(), near.bytes, &actual,
                            UCD_INFO__NULL, UCD_OP__REPLACE, native(stream)) == UCD_SUCCESS);
    stream.synchronise();
    packed.fetch();
    CHECK(std::memcmp(packed.actual(0), expected.data(), near.bytes) == 0);
    if (mock::backend.remembers) return; // may reach pageable memory
    actual = 7;
    CHECK(ucd_pack_stream(nullptr, 1, far.type, 0, packed.real_base(), far.bytes, &actual,
                          UCD_INFO__NULL, UCD_OP__REPLACE, native(stream)) == UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("inbuf is in several memories"));
    CHECK(ucd_unpack_stream(packed.real_base(), far.bytes, nullptr, 1, far.type, 0, &actual,
                            UCD_INFO__NULL, UCD_OP__REPLACE,
                            native(stream)) == UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("outbuf is in several memories"));
    // What is named is the side that is not reached, also if the other one is in several memories.
    const std::vector<char> out_of_reach(near.bytes);
    CHECK(ucd_unpack_stream(out_of_reach.data(), near.bytes, nullptr, 1, near.type, 0, &actual,
                            UCD_INFO__NULL, UCD_OP__REPLACE,
                            native(stream)) == UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("inbuf is in"));
    CHECK(actual == 7);
}

} // namespace queued_lists_test
