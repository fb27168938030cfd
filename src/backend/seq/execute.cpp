#include "execute.h"

#include "element_runs.h"
#include "move_range.h"
#include "reduce_range.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

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
    std::atomic<bool> out_of_memory{false};
    std::vector<std::jthread> helpers;
    helpers.reserve(threads - 1);
    const uint64_t end = job.offset + job.length;
    const auto cut = [&](unsigned i) {
        if (i == threads) return end;
        // Shares meet on cache lines of the packed side where the element allows it.
        uint64_t position = job.offset + job.length / threads * i / 64 * 64;
        if (job.op != Op::replace) {
            const uint64_t total = plan_of(job).size * job.count;
            position = element_floor(*job.elements, job.count, total, position);
        }
        return std::max(position, job.offset);
    };
    uint64_t from = job.offset;
    for (unsigned i = 1; i <= threads; ++i) {
        const uint64_t to = cut(i);
        const Range share{from, to - from};
        from = to;
        if (share.length == 0) continue;
        bool started = false;
        if (i < threads) {
            try {
                helpers.emplace_back([&job, &out_of_memory, share] {
                    try {
                        execute_range(job, share);
                    } catch (const std::bad_alloc &) {
                        out_of_memory = true;
                    }
                });
                started = true;
            } catch (const std::system_error &) {
                // No thread to be had: its share is done here.
            }
        }
        if (!started) execute_range(job, share);
    }
    helpers.clear(); // joins
    if (out_of_memory) throw std::bad_alloc();
}

} // namespace

void execute(const Job &job) {
    // Below this many bytes per thread, starting one costs more than it gains.
    constexpr uint64_t worth_a_thread = 512 * 1024;
    if (job.limits.threads > 1) {
        const uint64_t useful = job.length / worth_a_thread;
        const auto threads = static_cast<unsigned>(std::min<uint64_t>(useful, job.limits.threads));
        if (threads > 1) return execute_in_threads(job, threads);
    }
    execute_range(job, {job.offset, job.length});
}

} // namespace ucd::seq
