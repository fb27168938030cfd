// How the threads of one move divide its range.
#pragma once

#include "element_runs.h"
#include "job.h"
#include "range.h"

#include <algorithm>
#include <cstdint>

namespace ucd::seq {

// The byte of the stream that share `i` of `shares` begins with; share `shares` is the end. Equal
// shares, cut where elements end.
inline uint64_t share_begin(const Job &job, unsigned i, unsigned shares) {
    if (i == 0) return job.offset;
    if (i == shares) return job.offset + job.length;
    // Shares meet on cache lines of the packed side where the element allows it.
    uint64_t position = job.offset + job.length / shares * i / 64 * 64;
    if (job.op != Op::replace) {
        const uint64_t total = plan_of(job).size * job.count;
        position = element_floor(*job.elements, job.count, total, position);
    }
    return std::max(position, job.offset);
}

} // namespace ucd::seq
