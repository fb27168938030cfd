// From a checked transfer to the job that a backend is given.
#pragma once

#include "prepared/type_cache.h"
#include "transfer/executor.h"
#include "transfer/transfer.h"

namespace ucd {

// How transfers are moved that go to one backend together. Equal ones may share a launch.
struct Dispatch {
    Executor executor;
    JobSettings settings;
    friend bool operator==(const Dispatch &, const Dispatch &) = default;
};

// The one place where a job is filled, but for its settings. It is filled where it stays: a copy,
// read in other portions than it was written in, would stall the processor.
[[gnu::always_inline]] inline void fill_job(const Plan *plan, const Elements *elements,
                                            const Transfer &t, Job &job) {
    job.plan = plan;
    job.typed = t.typed;
    job.packed = t.packed;
    job.count = t.count;
    job.offset = t.offset;
    job.length = t.length;
    job.elements = elements;
}

// Completes a job that has its settings, with the plan of the transfer's type, which is made at
// first use.
[[gnu::always_inline]] inline Status complete_job(const Executor &executor, const Transfer &t,
                                                  Job &job) {
    const Plan *plan;
    UCD_TRY(plan_of(*t.type, *executor.backend, executor.index, t.count > 1, plan));
    fill_job(plan, job.op == Op::replace ? nullptr : &elements_of(*t.type), t, job);
    return success;
}

inline Status make_job(const Dispatch &dispatch, const Transfer &t, Job &job) {
    static_cast<JobSettings &>(job) = dispatch.settings;
    return complete_job(dispatch.executor, t, job);
}

} // namespace ucd
