// A part of a job, and where it lies.
#pragma once

#include "job.h"
#include "plan.h"

namespace ucd::seq {

// Of a job's packed stream.
struct Range {
    uint64_t offset, length;
};

inline const SeqPlan &plan_of(const Job &job) {
    return static_cast<const SeqPlan &>(*job.plan);
}

inline char *at(char *address, int64_t displacement) {
    return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(address) +
                                    static_cast<uintptr_t>(displacement));
}

} // namespace ucd::seq
