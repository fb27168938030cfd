#include "execute.h"

#include "element_runs.h"
#include "layout_walk.h"
#include "plan.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace ucd::seq {
namespace {

char *at(char *address, int64_t displacement) {
    return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(address) +
                                    static_cast<uintptr_t>(displacement));
}

// A range of a job's packed stream.
struct Range {
    uint64_t offset, length;
};

void move_tree(const SeqPlan &plan, const Job &job, Range range, char *packed,
               Direction direction) {
    const Layout &layout = plan.layout;
    const Node top = repeat(layout.top(), layout.root, job.count, plan.extent);
    const Node *nodes = layout.nodes.data();
    const auto id = [nodes](const Node &n) { return static_cast<NodeId>(&n - nodes); };
    const auto is_leaf = [&](const Node &n) { return &n != &top && plan.is_leaf(id(n)); };
    Walk walk(layout, top, layout.start, is_leaf);
    walk.start(range.offset, range.length);
    for (Piece piece; walk.next(piece);) {
        const NestPlan &part = plan.part(id(*piece.node));
        run_nest(part, part.nest.level[0].count, piece.node->bytes, at(job.laid_out, piece.origin),
                 piece.begin, piece.end, packed, direction);
        packed += piece.end - piece.begin;
    }
}

// Between the layout and `packed`, which holds the first byte of the range, byte for byte.
void move(const Job &job, Range range, char *packed, Direction direction) {
    const SeqPlan &plan = static_cast<const SeqPlan &>(*job.plan);
    char *origin = at(job.laid_out, plan.layout.start);
    switch (plan.form) {
    case SeqPlan::Form::contiguous: {
        char *laid_out = at(origin, static_cast<int64_t>(range.offset));
        if (direction == Direction::pack)
            std::memcpy(packed, laid_out, range.length);
        else
            std::memcpy(laid_out, packed, range.length);
        return;
    }
    case SeqPlan::Form::nest:
        return run_nest(plan.top, plan.iterations * job.count, plan.size * job.count, origin,
                        range.offset, range.offset + range.length, packed, direction);
    case SeqPlan::Form::tree: return move_tree(plan, job, range, packed, direction);
    }
}

void reduce(const Job &job, Range range, char *out, const char *in) {
    for_each_element_run(*job.elements, job.count, range.offset, range.length,
                         [&](Element element, uint64_t, uint64_t bytes) {
                             reduce_kernel(job.op, element)(out, in, bytes / packed_size(element));
                             out += bytes;
                             in += bytes;
                             return true;
                         });
}

// destination = destination op source, by way of a chunk that stays in the cache: the layout's
// bytes are gathered there, reduced in packed form and, when unpacking, put back.
void move_and_reduce(const Job &job, Range range, char *packed) {
    const SeqPlan &plan = static_cast<const SeqPlan &>(*job.plan);
    const bool pack = job.direction == Direction::pack;
    if (plan.form == SeqPlan::Form::contiguous) {
        char *laid_out =
            at(job.laid_out, displace(plan.layout.start, static_cast<int64_t>(range.offset)));
        return pack ? reduce(job, range, packed, laid_out) : reduce(job, range, laid_out, packed);
    }
    alignas(64) char chunk[16384];
    const uint64_t total = plan.size * job.count;
    while (range.length > 0) {
        const uint64_t most = std::min<uint64_t>(range.length, sizeof chunk);
        const uint64_t end = element_floor(*job.elements, job.count, total, range.offset + most);
        const Range part{range.offset, end - range.offset};
        move(job, part, chunk, Direction::pack);
        if (pack) {
            reduce(job, part, packed, chunk);
        } else {
            reduce(job, part, chunk, packed);
            move(job, part, chunk, Direction::unpack);
        }
        packed += part.length;
        range.offset += part.length;
        range.length -= part.length;
    }
}

void execute_range(const Job &job, Range range) {
    char *packed = job.packed + (range.offset - job.offset);
    if (job.op == Op::replace)
        move(job, range, packed, job.direction);
    else
        move_and_reduce(job, range, packed);
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
            const uint64_t total = static_cast<const SeqPlan &>(*job.plan).size * job.count;
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
