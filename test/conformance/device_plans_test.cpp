// What may be done with a plan, and when; on whatever backend the program is linked with.
#include "support/catch.hpp"

#include "support/keys.hpp"
#include "support/moves/plans.hpp"

namespace device_plans_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

TEST_CASE("a plan is started once at a time") {
    DeviceSession session;
    for (const Memory typed : {device0, pageable}) { // directly, and through chunks
        PlannedPack planned(typed, device0);
        mock::hold();
        REQUIRE(planned.start() == UCD_SUCCESS);
        REQUIRE(planned.own.request != UCD_REQUEST__NULL);
        planned.check_refused(UCD_ERR__INVALID_ARG, "has not ended");
        mock::Stream stream(0);
        if (typed == device0) CHECK(planned.plan.start_in(stream) == UCD_ERR__INVALID_ARG);
        mock::let_go();
        planned.own.wait_and_check();
        planned.run();
    }
}

TEST_CASE("a plan that is freed while it moves data goes on to its end") {
    DeviceSession session;
    for (const Memory typed : {device0, pageable}) {
        PlannedPack planned(typed, device0);
        mock::hold();
        REQUIRE(planned.start() == UCD_SUCCESS);
        planned.free_with_its_type();
        mock::let_go();
        planned.own.wait_and_check();
    }
}

TEST_CASE("a start that fails leaves the plan as it was") {
    DeviceSession session;
    PlannedPack planned(device0, device0);
    mock::knobs.failing_launch = 1;
    CHECK(planned.start() == UCD_ERR__DEVICE);
    CHECK(planned.own.request == UCD_REQUEST__NULL);
    planned.run();
    // A failure of the work ends the start, too.
    mock::knobs.failing_work = 1;
    REQUIRE(planned.start() == UCD_SUCCESS);
    CHECK(planned.own.wait() == UCD_ERR__DEVICE);
    planned.run();
}

TEST_CASE("a plan's buffers stay in the memories that they were in") {
    DeviceSession session;
    PlannedPack planned(device0, pinned);
    StridedMove other("others", 200, device1, pageable);
    void *const in = planned.own.typed.real_base(), *const out = planned.own.packed.real_base();
    const auto refused = [&](const void *to_in, void *to_out, const char *why) {
        CHECK(planned.rebase(to_in, to_out) == UCD_ERR__INVALID_ARG);
        CHECK(last_error_says(why));
    };
    refused(other.typed.real_base(), out, "moves[0]: inbuf is in");
    refused(in, other.packed.real_base(), "moves[0]: outbuf is in");
    refused(in, nullptr, "outbuf is NULL");
    planned.run(); // as it was
}

TEST_CASE("a plan's buffer goes to the same memory, and to no other one") {
    DeviceSession session;
    for (const Memory before : all_memories)
        for (const Memory after : all_memories) {
            PlannedPack planned(before, pageable);
            const StridedMove other("another", 200, after, pageable);
            INFO(name_of(before) << " to " << name_of(after));
            const int rc = planned.rebase(other.typed.real_base(), planned.own.packed.real_base());
            CHECK(rc == (before == after ? UCD_SUCCESS : UCD_ERR__INVALID_ARG));
        }
}

TEST_CASE("a plan's buffers with a hint may be in other memories of which the hint is true") {
    DeviceSession session;
    const PlannedPack planned(pageable, device0, Keys({{"ucd.inbuf", "host"}}));
    StridedMove second("second", 200, pinned, device0);
    CHECK(planned.rebase(second) == UCD_SUCCESS);
    set_up_pack(second.move());
    planned.plan.run();
    second.check();
}

TEST_CASE("starts in a stream keep what they need, whatever becomes of the plan") {
    DeviceSession session;
    mock::Stream stream(0);
    PlannedPack planned(device0, device0);
    StridedMove after("after", 200, device0, device0);
    set_up_pack(planned.own.move());
    set_up_pack(after.move());
    mock::hold();
    REQUIRE(planned.plan.start_in(stream) == UCD_SUCCESS);
    REQUIRE(planned.rebase(after) == UCD_SUCCESS);
    REQUIRE(planned.plan.start_in(stream) == UCD_SUCCESS);
    planned.free_with_its_type();
    mock::let_go();
    finish_in(stream);
    planned.own.check();
    after.check();
}

// The host moves data between pinned buffers, and a stream's device does, if it is asked.
TEST_CASE("a rebase holds for what was prepared at a first start in a stream") {
    DeviceSession session;
    mock::Stream stream(0);
    PlannedPack planned(pinned, pinned);
    StridedMove after("after", 200, pinned, pinned);
    const auto run_in_stream = [&](StridedMove &pack) {
        set_up_pack(pack.move());
        planned.plan.run_in(stream);
        pack.check();
    };
    for (int round = 0; round < 2; ++round) run_in_stream(planned.own);
    REQUIRE(planned.rebase(after) == UCD_SUCCESS);
    run_in_stream(after);
    set_up_pack(after.move());
    planned.plan.run();
    after.check();
}

TEST_CASE("after the last ucd_finalize a plan can only be freed") {
    DeviceSession session;
    PlannedPack planned(device0, pageable);
    StridedMove other("another", 200, device0, pageable);
    mock::Stream stream(0);
    const auto refused = [&](int status, const char *why) {
        planned.check_refused(status, why);
        CHECK(planned.plan.start_in(stream) == status);
        CHECK(planned.plan.start(other.request, {pack_of(other.move())}) == status);
        CHECK(planned.plan.start_in(stream, {pack_of(other.move())}) == status);
        CHECK(last_error_says(why));
    };
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    refused(UCD_ERR__NOT_INITIALIZED, "");
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    refused(UCD_ERR__INVALID_ARG, "before the last ucd_finalize");
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    planned.plan.free();
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

TEST_CASE("copies of indices end with the last ucd_finalize, and their plan after it") {
    DeviceSession session;
    const std::vector<std::int64_t> places = {3, 1, 0, 2};
    Rng rng(3);
    const RecipePtr recipe =
        indexed_block_ref(1, places, UCD_TYPE__INT32_T, 8, 0, 32, leaf(UCD_TYPE__DOUBLE));
    const BuiltType type(recipe);
    DeviceBuffer typed(rng, {0, 32}, device0), packed(rng, {0, 32}, device0);
    for (std::intptr_t i = 0; i < 4; ++i)
        std::copy_n(typed.actual(8 * places[static_cast<std::size_t>(i)]), 8,
                    packed.expected(8 * i));
    for (DeviceBuffer *buffer : {&typed, &packed}) buffer->send();
    ucd_move_t move = pack_move(typed.real_base(), 1, type.get(), 0, packed.real_base(), 32);
    ucd_plan_t plan = UCD_PLAN__NULL;
    REQUIRE(ucd_plan_create(&move, 1, UCD_INFO__NULL, UCD_OP__REPLACE, &plan) == UCD_SUCCESS);
    for (int round = 0; round < 2; ++round) {
        ucd_request_t request = UCD_REQUEST__NULL;
        REQUIRE(ucd_plan_start(plan, &request) == UCD_SUCCESS);
        REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
        packed.fetch();
        CHECK_FALSE(packed.first_difference());
    }
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    CHECK(mock::counts.live_allocations == 0);
    CHECK(ucd_plan_free(&plan) == UCD_SUCCESS);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

// The request has only its status left, which it keeps for whoever waits for it.
TEST_CASE("a start that is under way is complete after the last ucd_finalize, and holds nothing") {
    DeviceSession session;
    const int plans = mock::counts.live_plans, prepared = mock::counts.live_prepared;
    for (const bool freed : {false, true}) {
        PlannedPack planned(device0, device0);
        mock::hold();
        REQUIRE(planned.start() == UCD_SUCCESS);
        if (freed) planned.free_with_its_type();
        mock::let_go();
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        if (freed) CHECK(mock::counts.live_plans == plans);
        if (freed) CHECK(mock::counts.live_prepared == prepared);
        REQUIRE(planned.own.wait() == UCD_SUCCESS);
        planned.plan.free();
        planned.own.check();
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    }
}

} // namespace device_plans_test
