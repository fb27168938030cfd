// Starts of plans with other buffers; on whatever backend the program is linked with.
#include "support/catch.hpp"

#include "support/moves/plans.hpp"
#include "support/moves/scattered.hpp"

#include <list>
#include <string>
#include <thread>
#include <vector>

namespace plan_buffers_test {

using namespace ucdtest;
using enum ucdtest::Memory;

TEST_CASE("several starts of a plan with other buffers are outstanding at once") {
    DeviceSession session;
    for (const Memory typed : {device0, pageable}) { // directly, and through chunks
        PlannedPack planned(typed, device0);
        std::list<StridedMove> others;
        mock::hold();
        for (const char *name : {"first", "second", "third"}) {
            REQUIRE(planned.start(others.emplace_back(name, 200, typed, device0)) == UCD_SUCCESS);
            CHECK(others.back().request != UCD_REQUEST__NULL);
        }
        planned.check_refused(UCD_ERR__INVALID_ARG, "has not ended");
        mock::let_go();
        for (StridedMove &other : others) other.wait_and_check();
        // The plan is as it was, and a start of its own hinders no others.
        mock::hold();
        REQUIRE(planned.start() == UCD_SUCCESS);
        REQUIRE(planned.start(others.front()) == UCD_SUCCESS);
        planned.free_with_its_type();
        mock::let_go();
        planned.own.wait_and_check();
        others.front().wait_and_check();
    }
}

TEST_CASE("eight threads have eight starts of one plan each outstanding") {
    DeviceSession session;
    constexpr std::size_t threads = 8, starts = 8;
    for (const Memory typed : {device0, pageable}) {
        PlannedPack planned(typed, device0);
        std::list<StridedMove> others;
        for (std::size_t i = 0; i < threads * starts; ++i)
            set_up_pack(others.emplace_back("others", 200, typed, device0).move());
        std::vector<std::thread> running;
        std::vector<int> failures(threads);
        auto next = others.begin();
        for (std::size_t t = 0; t < threads; ++t) {
            std::vector<StridedMove *> mine;
            for (std::size_t i = 0; i < starts; ++i) mine.push_back(&*next++);
            running.emplace_back([&planned, mine, &failed = failures[t]] {
                for (StridedMove *m : mine)
                    failed += planned.plan.start(m->request, {pack_of(m->move())}) != 0;
                for (StridedMove *m : mine) failed += m->wait() != UCD_SUCCESS;
            });
        }
        for (std::thread &thread : running) thread.join();
        CHECK(failures == std::vector<int>(threads));
        for (StridedMove &other : others) other.check();
    }
}

TEST_CASE("threads start one plan with other buffers in streams of their own") {
    DeviceSession session;
    PlannedPack planned(device0, device0);
    std::list<mock::Stream> streams;
    std::list<StridedMove> others;
    std::vector<std::thread> running;
    std::vector<int> failures(8);
    for (int &failed : failures) {
        mock::Stream &stream = streams.emplace_back(0);
        StridedMove &other = others.emplace_back("others", 200, device0, device0);
        set_up_pack(other.move());
        running.emplace_back([&] {
            for (int i = 0; i < 8; ++i)
                failed += planned.plan.start_in(stream, {pack_of(other.move())}) != 0;
        });
    }
    for (std::thread &thread : running) thread.join();
    CHECK(failures == std::vector<int>(failures.size()));
    for (mock::Stream &stream : streams) finish_in(stream);
    for (StridedMove &other : others) other.check();
}

// Each start is refused while another one is being made, and changes nothing then. The move is
// empty, because all starts would write the same bytes.
TEST_CASE("threads that start one plan at once in streams start it or are refused") {
    DeviceSession session;
    StridedMove one("one", 200, device0, device0);
    set_up_pack(one.move());
    ucd_move_t empty = pack_of(one.move());
    empty.incount = 0;
    const Plan plan({empty});
    std::list<mock::Stream> streams;
    std::vector<std::thread> running;
    std::vector<int> wrong(4);
    for (int &codes : wrong) {
        mock::Stream &stream = streams.emplace_back(0);
        running.emplace_back([&] {
            for (int i = 0; i < 64; ++i) {
                const int code = plan.start_in(stream);
                codes += code != UCD_SUCCESS && code != UCD_ERR__INVALID_ARG;
            }
        });
    }
    for (std::thread &thread : running) thread.join();
    CHECK(wrong == std::vector<int>(wrong.size()));
    REQUIRE(plan.start_in(streams.front()) == UCD_SUCCESS);
    for (mock::Stream &stream : streams) finish_in(stream);
}

// The host moves data between pinned buffers, and a stream's device does, if it is asked.
TEST_CASE("starts with other buffers in a stream keep what they need of the plan") {
    DeviceSession session;
    for (const Memory memory : {device0, pinned}) {
        mock::Stream stream(0);
        PlannedPack planned(memory, memory);
        StridedMove one("one", 200, memory, memory), two("two", 200, memory, memory);
        mock::hold();
        REQUIRE(planned.start_in(stream, one) == UCD_SUCCESS);
        REQUIRE(planned.start_in(stream, two) == UCD_SUCCESS);
        planned.free_with_its_type();
        mock::let_go();
        finish_in(stream);
        one.check();
        two.check();
    }
}

TEST_CASE("a start with other buffers takes the same memories only") {
    DeviceSession session;
    mock::Stream stream(0);
    for (const Memory before : all_memories)
        for (const Memory after : all_memories) {
            const PlannedPack planned(before, pageable);
            StridedMove other("another", 200, after, pageable);
            INFO(name_of(before) << " to " << name_of(after));
            CHECK(planned.start(other) == (before == after ? UCD_SUCCESS : UCD_ERR__INVALID_ARG));
            if (before != after) CHECK(last_error_says("moves[0]: inbuf is in"));
            REQUIRE(other.wait() == UCD_SUCCESS);
            if (before == after) other.check();
        }
    PlannedPack planned(device0, pinned);
    const void *const in = planned.own.typed.real_base();
    void *out = nullptr;
    ucd_request_t request = UCD_REQUEST__NULL;
    CHECK(ucd_plan_start_with(planned.plan, &in, &out, &request) == UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("moves[0]: outbuf is NULL"));
    CHECK(ucd_plan_start_with_stream(planned.plan, &in, &out, native(stream)) ==
          UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("moves[0]: outbuf is NULL"));
    // A side without an array is the plan's.
    set_up_pack(planned.own.move());
    REQUIRE(ucd_plan_start_with(planned.plan, nullptr, nullptr, &request) == UCD_SUCCESS);
    REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    planned.own.check();
}

TEST_CASE("a plan whose data is in several memories is not started with other buffers") {
    DeviceSession session;
    Scattered parts({device0, pinned, device0}, true);
    DeviceBuffer packed(parts.one.rng(), {0, static_cast<std::intptr_t>(parts.bytes)}, device0);
    const Plan plan({pack_move(nullptr, 1, parts.type, 0, packed.real_base(), parts.bytes)});
    ucd_request_t request = UCD_REQUEST__NULL;
    void *out = packed.real_base();
    CHECK(ucd_plan_start_with(plan, nullptr, &out, &request) == UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("several memories"));
    plan.run(); // that was no use of the plan
}

} // namespace plan_buffers_test
