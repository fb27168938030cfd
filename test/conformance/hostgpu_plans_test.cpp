// Plans on GPU backends: what a start costs, and what graphs keep of them.
#include "support/catch.hpp"

#include "support/host_vendor/capture.h"
#include "support/moves/batch_calls.hpp"
#include "support/moves/plans.hpp"
#include "support/refused_calls.hpp"

#include <ucd_device.h>
#include <ucd_memory.h>

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace hostgpu_plans_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

TEST_CASE("a start of a plan is one launch, and nothing is uploaded or allocated") {
    DeviceSession session;
    mock::Stream stream(0);
    // With buffers of its own, or with those of the second.
    struct {
        int members;
        bool others;
    } const starts[] = {{256, false}, {1, true}};
    for (const auto &[members, with_others] : starts) {
        Vectors own(members), others(members);
        const Plan plan(own.moves.packs());
        BatchMoves &moves = with_others ? others.moves : own.moves;
        for (const bool in_stream : {false, true, false, true}) {
            moves.set_up_pack();
            forget_counts();
            mock::counts.stream_launches = 0;
            ucd::hostgpu::uploaded_bytes();
            if (with_others)
                in_stream ? plan.run_in(stream, moves.packs()) : plan.run(moves.packs());
            else
                in_stream ? plan.run_in(stream) : plan.run();
            CHECK(ucd::hostgpu::uploaded_bytes() == 0);
            CHECK(mock::counts.launches + mock::counts.stream_launches == 1);
            CHECK(mock::counts.copies == 0);
            CHECK(mock::counts.allocations == 0);
            moves.check("a start");
        }
    }
}

TEST_CASE("a graph has the addresses of its capture, and what it needs of the plan") {
    // Its own buffers, or those the start was given; of pinned memory, which is the host's without
    // a stream, the moves are routed anew.
    for (const auto &[with_others, memory] :
         {std::pair(false, device0), std::pair(true, device0), std::pair(true, pinned)})
        for (const int members : {1, 100}) {
            DeviceSession session;
            mock::Stream stream(0);
            Vectors own(members, memory, memory), others(members, memory, memory);
            std::optional<Plan> plan(std::in_place, own.moves.packs());
            BatchMoves &captured = with_others ? others.moves : own.moves,
                       &later = with_others ? own.moves : others.moves;
            ucd::hostgpu::Graph graph = ucd::hostgpu::captured(stream, [&] { // its first start
                REQUIRE((with_others ? plan->start_in(stream, captured.packs())
                                     : plan->start_in(stream)) == UCD_SUCCESS);
            });
            CHECK_FALSE(graph.kept.empty());
            const auto replayed = [&](const char *when) {
                captured.set_up_pack();
                ucd::hostgpu::replay(graph, stream);
                finish_in(stream);
                captured.check(when);
            };
            // Of as many bytes each, in other places.
            if (!with_others) REQUIRE(plan->rebase(later.packs()) == UCD_SUCCESS);
            later.set_up_pack();
            plan->run();
            later.check("by the plan");
            replayed("after a rebase");
            plan.reset();
            own.free_types();
            replayed("after the plan and its types were freed");
            graph = {};
        }
}

TEST_CASE("each call of the runtime fails once: a plan's start that is captured") {
    DeviceSession session;
    mock::Stream stream(0);
    Vectors many(100);
    const Plan plan(many.moves.packs());
    int refused = 0;
    for (bool all_called = false; !all_called; ++refused) {
        int rc = UCD_SUCCESS;
        const ucd::hostgpu::Graph graph = ucd::hostgpu::captured(stream, [&] {
            refuse_call(refused + 1);
            rc = plan.start_in(stream);
            all_called = !stop_refusing();
        });
        INFO("call " << refused + 1 << ", " << refused_call() << ": " << ucd_last_error());
        // A graph that has work holds what the work needs.
        if (rc == UCD_SUCCESS)
            CHECK_FALSE((graph.nodes.empty() || graph.kept.empty()));
        else
            CHECK((rc == UCD_ERR__DEVICE || rc == UCD_ERR__OUT_OF_MEM));
    }
    CHECK(refused > 2);
}

namespace {

// A sum from layout to layout, which takes two steps in a stream, through more than one chunk of
// the device's memory.
struct SumOfLayouts {
    Case one{"steps", 0};
    const ReducedSubject source = with_elements(make_subject(
                             one, vector(300000, 1, 2, leaf(UCD_TYPE__INT)), 1, "source")),
                         target = with_elements(make_subject(
                             one, vector(100000, 3, 4, leaf(UCD_TYPE__INT)), 1, "target"));
    DeviceBuffer in{one.rng(), source.subject.range, device0},
        out{one.rng(), target.subject.range, device0};
    const DeviceCopy copy{one, UCD_OP__SUM, source, in, target, out, {}};

    void start_in(mock::Stream &stream) {
        set_up_copy(copy);
        std::uintptr_t actual = 0;
        one.succeed(ucd_copy_stream(in.real_base(), 1, source.subject.type(), out.real_base(), 1,
                                    target.subject.type(), &actual, UCD_INFO__NULL, UCD_OP__SUM,
                                    native(stream)),
                    "ucd_copy_stream");
        CHECK(actual == source.subject.size());
    }
    void finish(mock::Stream &stream) {
        finish_in(stream);
        check_result(copy);
    }
};

} // namespace

TEST_CASE("the memory of steps in a stream serves the next call, and is not freed in between") {
    DeviceSession session;
    mock::Stream stream(0);
    SumOfLayouts sum;
    sum.start_in(stream);
    sum.finish(stream);
    const int freed = ucd::hostgpu::freed_memories;
    for (int round = 0; round < 3; ++round) {
        sum.start_in(stream);
        sum.finish(stream);
    }
    CHECK(ucd::hostgpu::freed_memories == freed);
    // But before memory runs out.
    ucd::hostgpu::is_memory_full = true;
    void *memory = nullptr;
    CHECK(ucd_memory_alloc(hint_for(device0).c_str(), UCD_MEMORY__DEVICE, 64, &memory) ==
          UCD_SUCCESS);
    CHECK(ucd::hostgpu::freed_memories == freed + 1);
    CHECK(ucd_memory_free(memory) == UCD_SUCCESS);
    // More calls at once than blocks are kept.
    mock::hold();
    std::deque<SumOfLayouts> many(12);
    for (SumOfLayouts &each : many) each.start_in(stream);
    mock::let_go();
    for (SumOfLayouts &each : many) each.finish(stream);
}

TEST_CASE("the last ucd_finalize frees the memory of steps in a stream when they are done") {
    DeviceSession session;
    mock::Stream stream(0);
    SumOfLayouts sum;
    mock::hold();
    sum.start_in(stream);
    std::thread device([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        mock::let_go();
    });
    CHECK(ucd_finalize() == UCD_SUCCESS);
    device.join();
    sum.finish(stream);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

TEST_CASE("reductions from layout to layout take two steps in a stream, by calls and by plans") {
    DeviceSession session;
    mock::Stream stream(0);
    SumOfLayouts sum;
    Case &one = sum.one;
    const DeviceCopy &copy = sum.copy;
    sum.start_in(stream);
    sum.finish(stream);

    Plan plan({copy_of(copy)}, UCD_INFO__NULL, UCD_OP__SUM);
    for (int round = 0; round < 2; ++round) {
        set_up_copy(copy);
        plan.run_in(stream);
        check_result(copy);
    }
    // The second start can be captured: everything is there.
    const ucd::hostgpu::Graph graph = ucd::hostgpu::captured(
        stream, [&] { one.succeed(plan.start_in(stream), "a captured start"); });
    plan.free();
    set_up_copy(copy);
    ucd::hostgpu::replay(graph, stream);
    stream.synchronise();
    check_result(copy);
}

TEST_CASE("each call of the runtime fails once: a plan for device code") {
    DeviceSession session;
    Case one("plans for device code", 0);
    const Subject listed =
        make_subject(one, indexed({3, 1, 2}, {0, 5, 11}, leaf(UCD_TYPE__DOUBLE)), 1);
    const std::string device = hint_for(device0);
    int refused = 0;
    for (bool all_called = false; !all_called; ++refused) {
        ucd_device_plan_t plan = UCD_DEVICE_PLAN__INIT;
        refuse_call(refused + 1);
        const int rc = ucd_device_plan_create(1, listed.type(), device.c_str(), nullptr, &plan);
        all_called = !stop_refusing();
        INFO("call " << refused + 1 << ", " << refused_call() << ": " << ucd_last_error());
        CHECK((rc == UCD_SUCCESS || rc == UCD_ERR__DEVICE || rc == UCD_ERR__OUT_OF_MEM));
        CHECK((plan.memory != 0) == (rc == UCD_SUCCESS));
        CHECK(ucd_device_plan_free(&plan) == UCD_SUCCESS);
    }
    CHECK(refused > 2);
}

} // namespace hostgpu_plans_test
