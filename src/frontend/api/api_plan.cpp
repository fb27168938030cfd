// Plans: moves that are started repeatedly.

#include "api/api_guard.h"
#include "api/resolve_stream.h"
#include "transfer/move_plan.h"

#include <ucd.h>

#include <vector>

using namespace ucd;

namespace {

// A plan's handle points to one of these. Starts that have not ended share the plan.
struct SharedPlan {
    std::shared_ptr<MovePlan> plan;
    HandleEntry entry;
};

[[gnu::always_inline]] inline Status find_plan(ucd_plan_t handle, MovePlan *&plan) {
    UCD_TRY(require(handle, "plan"));
    UCD_TRY(check_handle(handle, HandleKind::plan, "plan"));
    plan = reinterpret_cast<SharedPlan *>(handle)->plan.get();
    return success;
}

// Starts a plan by body(), which sets the operation that it gets.
template <class Body>
int start(const char *function, ucd_plan_t handle, ucd_request_t *request, Body body) {
    return guard(function, [&](Context &context) -> Status {
        MovePlan *plan;
        UCD_TRY(find_plan(handle, plan));
        UCD_TRY(require(request, "request"));
        std::unique_ptr<AsyncOperation> operation;
        UCD_TRY(body(*plan, context, operation));
        return end_call(context, std::move(operation), request);
    });
}

// Same, in a stream.
template <class Body>
int start_in(const char *function, ucd_plan_t handle, const ucd_stream_t &stream, Body body) {
    return guard(function, [&](Context &context) -> Status {
        MovePlan *plan;
        UCD_TRY(find_plan(handle, plan));
        StreamTarget target;
        UCD_TRY(resolve_stream(context, stream, target));
        return body(*plan, context, target);
    });
}

} // namespace

int ucd_plan_create(ucd_move_t *moves, uintptr_t count, ucd_info_t info, ucd_op_t op,
                    ucd_plan_t *plan) {
    return guard("ucd_plan_create", info, [&](Context &context) -> Status {
        UCD_TRY(require(plan, "plan"));
        UCD_TRY(check_op(op));
        UCD_TRY(require_list(moves, count, "moves"));
        std::vector<CheckedMove> members(count);
        for (uintptr_t i = 0; i < count; ++i)
            UCD_TRY(at_member(i, check_member(moves[i], op, members[i])));
        const CallHints hints(context, info);
        auto made = std::make_unique<SharedPlan>();
        UCD_TRY(MovePlan::create(context, members, hints, made->plan));
        for (uintptr_t i = 0; i < count; ++i) write_lengths(moves[i], members[i]);
        add_handle(made->entry, made.get(), HandleKind::plan);
        *plan = reinterpret_cast<ucd_plan_t>(made.release());
        return success;
    });
}

int ucd_plan_start(ucd_plan_t plan, ucd_request_t *request) {
    return start("ucd_plan_start", plan, request, [](MovePlan &p, Context &context, auto &started) {
        return p.start(context, started);
    });
}

int ucd_plan_start_with(ucd_plan_t plan, const void *const *inbufs, void *const *outbufs,
                        ucd_request_t *request) {
    return start("ucd_plan_start_with", plan, request,
                 [&](MovePlan &p, Context &context, auto &started) {
                     return p.start_with(context, {inbufs, outbufs}, started);
                 });
}

int ucd_plan_start_stream(ucd_plan_t plan, ucd_stream_t stream) {
    return start_in(
        "ucd_plan_start_stream", plan, stream,
        [](MovePlan &p, Context &context, auto &target) { return p.start_in(context, target); });
}

int ucd_plan_start_with_stream(ucd_plan_t plan, const void *const *inbufs, void *const *outbufs,
                               ucd_stream_t stream) {
    return start_in("ucd_plan_start_with_stream", plan, stream,
                    [&](MovePlan &p, Context &context, auto &target) {
                        return p.start_with_in(context, {inbufs, outbufs}, target);
                    });
}

int ucd_plan_rebase(ucd_plan_t plan, uintptr_t first, uintptr_t count, const void *const *inbufs,
                    void *const *outbufs) {
    return guard("ucd_plan_rebase", [&](Context &context) -> Status {
        MovePlan *rebased;
        UCD_TRY(find_plan(plan, rebased));
        return rebased->rebase(context, first, count, {inbufs, outbufs});
    });
}

int ucd_plan_free(ucd_plan_t *plan) {
    return guard("ucd_plan_free", [&]() -> Status {
        UCD_TRY(check_ever_initialised());
        UCD_TRY(require(plan, "plan"));
        if (*plan == UCD_PLAN__NULL) return success;
        UCD_TRY(check_freed_handle(*plan, HandleKind::plan, "*plan"));
        delete reinterpret_cast<SharedPlan *>(*plan);
        *plan = UCD_PLAN__NULL;
        return success;
    });
}
