// Moving data between two sides that are both in host memory.
#pragma once

#include "derived.h"
#include "transfer.h"

namespace ucd {

// What run_on_host() would derive from the type at first use.
inline Status prepare_on_host(Context &context, const Type &type, uint64_t count, Op op) {
    const Plan *plan;
    UCD_TRY(plan_of(type, context.host(), Context::host_index, count > 1, plan));
    if (op != Op::replace) elements_of(type);
    return success;
}

// What the host's backend is given for a transfer.
inline Status make_host_job(Context &context, const Transfer &t, Direction direction, Op op,
                            const Limits &limits, Job &job) {
    UCD_TRY(plan_of(*t.type, context.host(), Context::host_index, t.count > 1, job.plan));
    job.laid_out = t.laid_out;
    job.packed = t.packed;
    job.count = t.count;
    job.offset = t.offset;
    job.length = t.length;
    job.direction = direction;
    job.op = op;
    if (op != Op::replace) job.elements = &elements_of(*t.type);
    job.limits = limits;
    return success;
}

// Run to completion.
inline Status launch_on_host(Context &context, std::span<const Job> jobs) {
    std::unique_ptr<Event> done; // stays null: the host's backend has no work under way on return
    return context.host().launch(0, jobs, done);
}

inline Status run_on_host(Context &context, const Transfer &t, Direction direction, Op op,
                          const Limits &limits) {
    Job job;
    UCD_TRY(make_host_job(context, t, direction, op, limits, job));
    return launch_on_host(context, std::span<const Job>(&job, 1));
}

} // namespace ucd
