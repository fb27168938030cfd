// Plans on GPU backends: what a start costs, and what graphs keep of them.
#include "support/catch.hpp"

#include "support/host_vendor/capture.h"
#include "support/moves/batch_calls.hpp"
#include "support/refused_calls.hpp"

#include <ucd_device.h>

#include <optional>
#include <string>
#include <vector>

namespace hostgpu_plans_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

class Plan {
public:
    explicit Plan(MoveList moves, ucd_op_t op = UCD_OP__REPLACE) {
        REQUIRE(ucd_plan_create(moves.data(), moves.size(), UCD_INFO__NULL, op, &plan_) ==
                UCD_SUCCESS);
    }
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;
    ~Plan() { free(); }
    void free() {
        if (plan_ != UCD_PLAN__NULL) REQUIRE(ucd_plan_free(&plan_) == UCD_SUCCESS);
    }
    void start() const {
        ucd_request_t request = UCD_REQUEST__NULL;
        REQUIRE(ucd_plan_start(plan_, &request) == UCD_SUCCESS);
        REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    }
    int try_start_in(mock::Stream &stream) const {
        return ucd_plan_start_stream(plan_, native(stream));
    }
    void start_in(mock::Stream &stream) const { REQUIRE(try_start_in(stream) == UCD_SUCCESS); }
    void rebase(const MoveList &packs) const {
        const Buffers b(packs);
        REQUIRE(ucd_plan_rebase(plan_, 0, b.in.size(), b.in.data(), b.out.data()) == UCD_SUCCESS);
    }
    // In the stream, if there is one; waits until the data has moved, unless it is captured.
    void start_with(const MoveList &packs, mock::Stream *stream) const {
        const Buffers b(packs);
        if (stream != nullptr) {
            REQUIRE(ucd_plan_start_with_stream(plan_, b.in.data(), b.out.data(), native(*stream)) ==
                    UCD_SUCCESS);
            stream->synchronise();
        } else {
            ucd_request_t request = UCD_REQUEST__NULL;
            REQUIRE(ucd_plan_start_with(plan_, b.in.data(), b.out.data(), &request) == UCD_SUCCESS);
            REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
        }
    }

private:
    struct Buffers {
        explicit Buffers(const MoveList &packs) {
            for (const ucd_move_t &d : packs) {
                in.push_back(d.inbuf);
                out.push_back(d.outbuf);
            }
        }
        std::vector<const void *> in;
        std::vector<void *> out;
    };
    ucd_plan_t plan_ = UCD_PLAN__NULL;
};

} // namespace

TEST_CASE("a start of a plan is one launch, and nothing is uploaded or allocated") {
    DeviceSession session;
    mock::Stream stream(0);
    Vectors many(256);
    const Plan plan(many.moves.packs());
    for (const bool in_stream : {false, true, false}) {
        many.moves.set_up_pack();
        forget_counts();
        ucd::hostgpu::uploaded_bytes();
        if (in_stream) {
            plan.start_in(stream);
            stream.synchronise();
        } else {
            plan.start();
        }
        CHECK(ucd::hostgpu::uploaded_bytes() == 0);
        CHECK(mock::counts.launches + mock::counts.stream_launches == 1);
        CHECK(mock::counts.copies == 0);
        CHECK(mock::counts.allocations == 0);
        many.moves.check("a start");
    }
}

TEST_CASE("a graph has the addresses of its capture, and what it needs of the plan") {
    DeviceSession session;
    mock::Stream stream(0);
    Vectors many(100);
    std::optional<Vectors> others(std::in_place, 100);
    std::optional<Plan> plan(std::in_place, many.moves.packs());
    ucd::hostgpu::begin_capture(stream);
    plan->start_in(stream);
    ucd::hostgpu::Graph graph = ucd::hostgpu::end_capture(stream);
    // Of as many bytes each, in other places.
    plan->rebase(others->moves.packs());
    others->moves.set_up_pack();
    plan->start();
    others->moves.check("by the plan");
    const auto replayed = [&](const char *when) {
        many.moves.set_up_pack();
        ucd::hostgpu::replay(graph, stream);
        stream.synchronise();
        many.moves.check(when);
    };
    replayed("after a rebase");
    plan.reset();
    for (Subject &s : many.subjects) s.built = BuiltType();
    replayed("after the plan and its types were freed");
    graph = {};
}

TEST_CASE("a start of one move with other buffers is one launch, and uploads nothing") {
    DeviceSession session;
    mock::Stream stream(0);
    Vectors own(1), others(1);
    const Plan plan(own.moves.packs());
    for (const bool in_stream : {false, true, false, true}) {
        others.moves.set_up_pack();
        forget_counts();
        ucd::hostgpu::uploaded_bytes();
        plan.start_with(others.moves.packs(), in_stream ? &stream : nullptr);
        CHECK(ucd::hostgpu::uploaded_bytes() == 0);
        CHECK(mock::counts.launches + mock::counts.stream_launches == 1);
        CHECK(mock::counts.copies == 0);
        CHECK(mock::counts.allocations == 0);
        others.moves.check("a start with other buffers");
    }
}

TEST_CASE("a graph has the buffers that a captured start was given") {
    for (const std::size_t members : {1, 100}) {
        DeviceSession session;
        mock::Stream stream(0);
        Vectors own(members), others(members);
        std::optional<Plan> plan(std::in_place, own.moves.packs());
        ucd::hostgpu::begin_capture(stream);
        plan->start_with(others.moves.packs(), &stream); // its first, too
        ucd::hostgpu::Graph graph = ucd::hostgpu::end_capture(stream);
        own.moves.set_up_pack();
        plan->start();
        own.moves.check("by the plan");
        plan.reset();
        for (Subject &s : own.subjects) s.built = BuiltType();
        for (int replay = 0; replay < 2; ++replay) {
            others.moves.set_up_pack();
            ucd::hostgpu::replay(graph, stream);
            stream.synchronise();
            others.moves.check("after the plan and its types were freed");
        }
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
        ucd::hostgpu::begin_capture(stream);
        refuse_call(refused + 1);
        const int rc = plan.try_start_in(stream);
        all_called = !stop_refusing();
        const ucd::hostgpu::Graph graph = ucd::hostgpu::end_capture(stream);
        INFO("call " << refused + 1 << ", " << refused_call() << ": " << ucd_last_error());
        // A graph that has work holds what the work needs.
        if (rc == UCD_SUCCESS)
            CHECK_FALSE((graph.nodes.empty() || graph.kept.empty()));
        else
            CHECK((rc == UCD_ERR__DEVICE || rc == UCD_ERR__OUT_OF_MEM));
    }
    CHECK(refused > 2);
}

TEST_CASE("reductions from layout to layout take two steps in a stream, by calls and by plans") {
    DeviceSession session;
    mock::Stream stream(0);
    Case one("steps", 0);
    const RecipePtr number = leaf(UCD_TYPE__INT);
    // More than one chunk of the device's memory.
    const ReducedSubject source =
        with_elements(make_subject(one, vector(300000, 1, 2, number), 1, "source"));
    const ReducedSubject target =
        with_elements(make_subject(one, vector(100000, 3, 4, number), 1, "target"));
    DeviceBuffer in(one.rng(), source.subject.range, device0),
        out(one.rng(), target.subject.range, device0);
    const DeviceCopy copy{one, UCD_OP__SUM, source, in, target, out, {}};
    set_up_copy(copy);
    std::uintptr_t actual = 0;
    one.succeed(ucd_copy_stream(in.real_base(), 1, source.subject.type(), out.real_base(), 1,
                                target.subject.type(), &actual, UCD_INFO__NULL, UCD_OP__SUM,
                                native(stream)),
                "ucd_copy_stream");
    CHECK(actual == source.subject.size());
    finish_in(stream);
    check_result(copy);

    ucd_move_t move = copy_of(copy);
    ucd_plan_t plan = UCD_PLAN__NULL;
    one.succeed(ucd_plan_create(&move, 1, UCD_INFO__NULL, UCD_OP__SUM, &plan), "ucd_plan_create");
    for (int round = 0; round < 2; ++round) {
        set_up_copy(copy);
        one.succeed(ucd_plan_start_stream(plan, native(stream)), "ucd_plan_start_stream");
        stream.synchronise();
        check_result(copy);
    }
    // The second start can be captured: everything is there.
    ucd::hostgpu::begin_capture(stream);
    one.succeed(ucd_plan_start_stream(plan, native(stream)), "a captured start");
    ucd::hostgpu::Graph graph = ucd::hostgpu::end_capture(stream);
    one.succeed(ucd_plan_free(&plan), "ucd_plan_free");
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
