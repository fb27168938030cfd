#include "execute.h"

#include "in_threads.h"
#include "move_range.h"
#include "reduce_range.h"
#include "share.h"
#include "useful_threads.h"

namespace ucd::seq {
namespace {

void execute_range(const Job &job, Range range) {
    char *packed = job.packed + (range.offset - job.offset);
    if (job.op == Op::replace)
        move_range(job, range, packed, job.direction);
    else
        reduce_range(job, range, packed);
}

void execute_in_threads(const Job &job, unsigned threads) {
    in_threads(threads, [&](unsigned i) {
        const uint64_t from = share_begin(job, i, threads), to = share_begin(job, i + 1, threads);
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
