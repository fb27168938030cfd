// What may be done with a plan, and when; on whatever backend the program is linked with.
#include "support/catch.hpp"

#include "support/keys.hpp"
#include "support/moves/device_moves.hpp"
#include "support/moves/strided_move.hpp"

namespace device_plans_test {

using namespace ucdtest;
using enum ucdtest::Memory;

namespace {

// A pack by a plan.
struct PlannedPack {
    StridedMove m;
    ucd_plan_t plan = UCD_PLAN__NULL;
    ucd_request_t request = UCD_REQUEST__NULL;

    PlannedPack(Memory typed, Memory packed) : m("planned", 200, typed, packed) {
        ucd_move_t move = pack_of(m.move());
        REQUIRE(ucd_plan_create(&move, 1, UCD_INFO__NULL, UCD_OP__REPLACE, &plan) == UCD_SUCCESS);
        CHECK(move.actual_bytes == m.bytes());
    }
    PlannedPack(const PlannedPack &) = delete;
    PlannedPack &operator=(const PlannedPack &) = delete;
    ~PlannedPack() {
        if (plan != UCD_PLAN__NULL) ucd_plan_free(&plan);
    }
    int start() { return ucd_plan_start(plan, &request); }
    int rebase(const void *in, void *out) { return ucd_plan_rebase(plan, 0, 1, &in, &out); }
};

} // namespace

TEST_CASE("a plan is started once at a time") {
    DeviceSession session;
    for (const Memory typed : {device0, pageable}) { // directly, and through chunks
        PlannedPack planned(typed, device0);
        set_up_pack(planned.m.move());
        mock::hold();
        REQUIRE(planned.start() == UCD_SUCCESS);
        REQUIRE(planned.request != UCD_REQUEST__NULL);
        ucd_request_t second = UCD_REQUEST__NULL;
        CHECK(ucd_plan_start(planned.plan, &second) == UCD_ERR__INVALID_ARG);
        CHECK(last_error_says("has not ended"));
        CHECK(second == UCD_REQUEST__NULL);
        const void *const in = planned.m.typed.real_base();
        CHECK(ucd_plan_rebase(planned.plan, 0, 1, &in, nullptr) == UCD_ERR__INVALID_ARG);
        CHECK(last_error_says("has not ended"));
        mock::Stream stream(0);
        if (typed == device0)
            CHECK(ucd_plan_start_stream(planned.plan, native(stream)) == UCD_ERR__INVALID_ARG);
        mock::let_go();
        REQUIRE(ucd_wait(&planned.request) == UCD_SUCCESS);
        planned.m.check();
        set_up_pack(planned.m.move());
        REQUIRE(planned.start() == UCD_SUCCESS);
        REQUIRE(ucd_wait(&planned.request) == UCD_SUCCESS);
        planned.m.check();
    }
}

TEST_CASE("a plan that is freed while it moves data goes on to its end") {
    DeviceSession session;
    for (const Memory typed : {device0, pageable}) {
        PlannedPack planned(typed, device0);
        set_up_pack(planned.m.move());
        mock::hold();
        REQUIRE(planned.start() == UCD_SUCCESS);
        planned.m.free_type();
        REQUIRE(ucd_plan_free(&planned.plan) == UCD_SUCCESS);
        CHECK(planned.plan == UCD_PLAN__NULL);
        mock::let_go();
        REQUIRE(ucd_wait(&planned.request) == UCD_SUCCESS);
        planned.m.check();
    }
}

TEST_CASE("a start that fails leaves the plan as it was") {
    DeviceSession session;
    PlannedPack planned(device0, device0);
    set_up_pack(planned.m.move());
    mock::knobs.failing_launch = 1;
    CHECK(planned.start() == UCD_ERR__DEVICE);
    CHECK(planned.request == UCD_REQUEST__NULL);
    REQUIRE(planned.start() == UCD_SUCCESS);
    REQUIRE(ucd_wait(&planned.request) == UCD_SUCCESS);
    planned.m.check();
    // A failure of the work ends the start, too.
    mock::knobs.failing_work = 1;
    REQUIRE(planned.start() == UCD_SUCCESS);
    CHECK(ucd_wait(&planned.request) == UCD_ERR__DEVICE);
    set_up_pack(planned.m.move());
    REQUIRE(planned.start() == UCD_SUCCESS);
    REQUIRE(ucd_wait(&planned.request) == UCD_SUCCESS);
    planned.m.check();
}

TEST_CASE("a plan's buffers stay in the memories that they were in") {
    DeviceSession session;
    PlannedPack planned(device0, pinned);
    StridedMove other("others", 200, device1, pageable);
    CHECK(planned.rebase(other.typed.real_base(), planned.m.packed.real_base()) ==
          UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("moves[0]: inbuf is in"));
    CHECK(planned.rebase(planned.m.typed.real_base(), other.packed.real_base()) ==
          UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("moves[0]: outbuf is in"));
    CHECK(planned.rebase(planned.m.typed.real_base(), nullptr) == UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("outbuf is NULL"));
    // The plan is as it was.
    set_up_pack(planned.m.move());
    REQUIRE(planned.start() == UCD_SUCCESS);
    REQUIRE(ucd_wait(&planned.request) == UCD_SUCCESS);
    planned.m.check();
}

TEST_CASE("a plan's buffer goes to the same memory, and to no other one") {
    DeviceSession session;
    for (const Memory before : all_memories)
        for (const Memory after : all_memories) {
            PlannedPack planned(before, pageable);
            const StridedMove other("another", 200, after, pageable);
            INFO(name_of(before) << " to " << name_of(after));
            const int rc = planned.rebase(other.typed.real_base(), planned.m.packed.real_base());
            CHECK(rc == (before == after ? UCD_SUCCESS : UCD_ERR__INVALID_ARG));
        }
}

TEST_CASE("a plan's buffers with a hint may be in other memories of which the hint is true") {
    DeviceSession session;
    StridedMove first("first", 200, pageable, device0), second("second", 200, pinned, device0);
    ucd_move_t move = pack_of(first.move());
    ucd_plan_t plan = UCD_PLAN__NULL;
    REQUIRE(ucd_plan_create(&move, 1, Keys({{"ucd.inbuf", "host"}}), UCD_OP__REPLACE, &plan) ==
            UCD_SUCCESS);
    const void *const in = second.typed.real_base();
    void *const out = second.packed.real_base();
    CHECK(ucd_plan_rebase(plan, 0, 1, &in, &out) == UCD_SUCCESS);
    set_up_pack(second.move());
    ucd_request_t request = UCD_REQUEST__NULL;
    REQUIRE(ucd_plan_start(plan, &request) == UCD_SUCCESS);
    REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    second.check();
    CHECK(ucd_plan_free(&plan) == UCD_SUCCESS);
}

TEST_CASE("starts in a stream keep what they need, whatever becomes of the plan") {
    DeviceSession session;
    mock::Stream stream(0);
    PlannedPack planned(device0, device0);
    StridedMove after("after", 200, device0, device0);
    set_up_pack(planned.m.move());
    set_up_pack(after.move());
    mock::hold();
    REQUIRE(ucd_plan_start_stream(planned.plan, native(stream)) == UCD_SUCCESS);
    REQUIRE(planned.rebase(after.typed.real_base(), after.packed.real_base()) == UCD_SUCCESS);
    REQUIRE(ucd_plan_start_stream(planned.plan, native(stream)) == UCD_SUCCESS);
    planned.m.free_type();
    REQUIRE(ucd_plan_free(&planned.plan) == UCD_SUCCESS);
    mock::let_go();
    finish_in(stream);
    planned.m.check();
    after.check();
}

// The host moves data between pinned buffers, and a stream's device does, if it is asked.
TEST_CASE("a rebase holds for what was prepared at a first start in a stream") {
    DeviceSession session;
    mock::Stream stream(0);
    PlannedPack planned(pinned, pinned);
    StridedMove after("after", 200, pinned, pinned);
    for (int round = 0; round < 2; ++round) {
        set_up_pack(planned.m.move());
        REQUIRE(ucd_plan_start_stream(planned.plan, native(stream)) == UCD_SUCCESS);
        stream.synchronise();
        planned.m.check();
    }
    REQUIRE(planned.rebase(after.typed.real_base(), after.packed.real_base()) == UCD_SUCCESS);
    set_up_pack(after.move());
    REQUIRE(ucd_plan_start_stream(planned.plan, native(stream)) == UCD_SUCCESS);
    stream.synchronise();
    after.check();
    set_up_pack(after.move());
    REQUIRE(planned.start() == UCD_SUCCESS);
    REQUIRE(ucd_wait(&planned.request) == UCD_SUCCESS);
    after.check();
}

TEST_CASE("after the last ucd_finalize a plan can only be freed") {
    DeviceSession session;
    PlannedPack planned(device0, pageable);
    const void *const in = planned.m.typed.real_base();
    mock::Stream stream(0);
    const auto refused = [&](int status) {
        ucd_request_t request = UCD_REQUEST__NULL;
        CHECK(ucd_plan_start(planned.plan, &request) == status);
        CHECK(ucd_plan_start_stream(planned.plan, native(stream)) == status);
        CHECK(ucd_plan_rebase(planned.plan, 0, 1, &in, nullptr) == status);
    };
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    refused(UCD_ERR__NOT_INITIALIZED);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    refused(UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("before the last ucd_finalize"));
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    CHECK(ucd_plan_free(&planned.plan) == UCD_SUCCESS);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

TEST_CASE("a start that is under way is complete after the last ucd_finalize") {
    DeviceSession session;
    PlannedPack planned(device0, device0);
    set_up_pack(planned.m.move());
    REQUIRE(planned.start() == UCD_SUCCESS);
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    REQUIRE(ucd_wait(&planned.request) == UCD_SUCCESS);
    CHECK(ucd_plan_free(&planned.plan) == UCD_SUCCESS);
    planned.m.check();
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

// The request has only its status left, which it keeps for whoever waits for it.
TEST_CASE("what a plan that is freed needs is gone after the last ucd_finalize") {
    DeviceSession session;
    const int plans = mock::counts.live_plans, prepared = mock::counts.live_prepared;
    PlannedPack planned(device0, device0);
    set_up_pack(planned.m.move());
    mock::hold();
    REQUIRE(planned.start() == UCD_SUCCESS);
    planned.m.free_type();
    REQUIRE(ucd_plan_free(&planned.plan) == UCD_SUCCESS);
    mock::let_go();
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    CHECK(mock::counts.live_plans == plans);
    CHECK(mock::counts.live_prepared == prepared);
    REQUIRE(ucd_wait(&planned.request) == UCD_SUCCESS);
    planned.m.check();
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

} // namespace device_plans_test
