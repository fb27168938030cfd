#include "execute.h"

#include "element_runs.h"
#include "in_threads.h"
#include "move_range.h"
#include "reduce_range.h"
#include "useful_threads.h"

#include <algorithm>

namespace ucd::seq {
namespace {

void execute_range(const Job &job, Range range) {
    char *packed = job.packed + (range.offset - job.offset);
    if (job.op == Op::replace)
        move_range(job, range, packed, job.direction);
    else
        reduce_range(job, range, packed);
}

// Equal shares of the stream, cut where elements end.
void execute_in_threads(const Job &job, unsigned threads) {
    const uint64_t end = job.offset + job.length;
    const auto cut = [&](unsigned i) {
        if (i == 0) return job.offset;
        if (i == threads) return end;
        // Shares meet on cache lines of the packed side where the element allows it.
        uint64_t position = job.offset + job.length / threads * i / 64 * 64;
        if (job.op != Op::replace) {
            const uint64_t total = plan_of(job).size * job.count;
            position = element_floor(*job.elements, job.count, total, position);
        }
        return std::max(position, job.offset);
    };
    in_threads(threads, [&](unsigned i) {
        const uint64_t from = cut(i), to = cut(i + 1);
        if (to > from) execute_range(job, {from, to - from});
    });
}

} // namespace

void execute(const Job &job) {
    const unsigned threads = useful_threads(job.length, job.limits.threads);
    if (threads > 1) return execute_in_threads(job, threads);
    execute_range(job, {job.offset, job.length});
}

} // namespace ucd::seq
