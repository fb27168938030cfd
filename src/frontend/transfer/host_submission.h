// Moving data between two sides that are both in host memory, inside the call.
#pragma once

#include "transfer/dispatch.h"
#include "transfer/first_use.h"

#include <span>

namespace ucd {

inline Executor host_executor(Context &context) {
    return {&context.host(), Context::host_index, 0};
}

// What run_on_host() would make for the type at first use.
inline Status prepare_on_host(Context &context, const Type &type, uint64_t count, Op op) {
    const Plan *plan;
    UCD_TRY(plan_of(type, context.host(), Context::host_index, count > 1, plan));
    if (op != Op::replace) elements_of(type);
    return success;
}

// Run to completion.
inline Status launch_on_host(Context &context, std::span<const Job> jobs) {
    std::unique_ptr<Event> done; // stays null: the host's backend has no work under way on return
    return context.host().launch(0, jobs, done);
}

inline Status run_on_host(Context &context, const Transfer &t, Direction direction, Op op,
                          const Limits &limits) {
    if (t.type->cache.load(std::memory_order_acquire) == nullptr) [[unlikely]]
        if (op == Op::replace && move_at_first_use(t, direction, limits)) return success;
    Job job;
    job.direction = direction; // where both sides are does not matter to the host
    job.op = op;
    job.limits = limits;
    UCD_TRY(complete_job(host_executor(context), t, job));
    return launch_on_host(context, std::span<const Job>(&job, 1));
}

} // namespace ucd
