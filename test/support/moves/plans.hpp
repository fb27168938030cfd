// Plans as tests make, start and free them.
#pragma once

#include "support/catch.hpp"
#include "support/moves/strided_move.hpp"

#include <utility>

namespace ucdtest {

// Freed at the end of its scope, unless it was before.
class Plan {
public:
    explicit Plan(MoveList moves, ucd_info_t info = UCD_INFO__NULL, ucd_op_t op = UCD_OP__REPLACE) {
        REQUIRE(ucd_plan_create(moves.data(), moves.size(), info, op, &plan_) == UCD_SUCCESS);
    }
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;
    ~Plan() { free(); }
    void free() {
        if (plan_ != UCD_PLAN__NULL) CHECK(ucd_plan_free(&plan_) == UCD_SUCCESS);
        CHECK(plan_ == UCD_PLAN__NULL);
    }
    operator ucd_plan_t() const { return plan_; }

    // The statuses of calls. The moves name other buffers.
    int start(ucd_request_t &request) const { return ucd_plan_start(plan_, &request); }
    int start(ucd_request_t &request, const MoveList &others) const {
        const MoveBuffers with(others);
        return ucd_plan_start_with(plan_, with.in.data(), with.out.data(), &request);
    }
    int start_in(mock::Stream &stream) const {
        return ucd_plan_start_stream(plan_, native(stream));
    }
    int start_in(mock::Stream &stream, const MoveList &others) const {
        const MoveBuffers with(others);
        return ucd_plan_start_with_stream(plan_, with.in.data(), with.out.data(), native(stream));
    }
    int rebase(const MoveList &others) const {
        const MoveBuffers to(others);
        return ucd_plan_rebase(plan_, 0, others.size(), to.in.data(), to.out.data());
    }
    // Until the data has moved.
    template <class... Others>
    void run(const Others &...others) const {
        ucd_request_t request = UCD_REQUEST__NULL;
        REQUIRE(start(request, others...) == UCD_SUCCESS);
        REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    }
    template <class... Others>
    void run_in(mock::Stream &stream, const Others &...others) const {
        REQUIRE(start_in(stream, others...) == UCD_SUCCESS);
        finish_in(stream);
    }

private:
    ucd_plan_t plan_ = UCD_PLAN__NULL;
};

// A plan of one pack, which starts it, or others like it.
struct PlannedPack {
    StridedMove own;
    Plan plan;

    PlannedPack(Memory typed, Memory packed, ucd_info_t info = UCD_INFO__NULL)
        : own("planned", 200, typed, packed), plan({pack_of(own.move())}, info) {}

    // The statuses of starts, whose request is the pack's.
    int start() {
        set_up_pack(own.move());
        return plan.start(own.request);
    }
    int start(StridedMove &other) const {
        set_up_pack(other.move());
        return plan.start(other.request, {pack_of(other.move())});
    }
    int start_in(mock::Stream &stream, StridedMove &other) const {
        set_up_pack(other.move());
        return plan.start_in(stream, {pack_of(other.move())});
    }
    void run() {
        REQUIRE(start() == UCD_SUCCESS);
        own.wait_and_check();
    }
    int rebase(const void *in, void *out) const { return ucd_plan_rebase(plan, 0, 1, &in, &out); }
    int rebase(StridedMove &other) const { return plan.rebase({pack_of(other.move())}); }
    // While work is held back.
    void free_with_its_type() {
        own.free_type();
        plan.free();
    }

    // That it can neither be started nor changed.
    void check_refused(int status, const char *why) const {
        ucd_request_t request = UCD_REQUEST__NULL;
        CHECK(plan.start(request) == status);
        CHECK(request == UCD_REQUEST__NULL);
        CHECK(last_error_says(why));
        const void *const in = own.typed.real_base();
        CHECK(ucd_plan_rebase(plan, 0, 1, &in, nullptr) == status);
        CHECK(last_error_says(why));
    }
};

} // namespace ucdtest
