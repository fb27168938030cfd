#include "host_functions.h"

#include "convert_range.h"
#include "in_threads.h"
#include "move_range.h"
#include "nest_plan.h"
#include "reduce_range.h"
#include "share.h"
#include "useful_threads.h"

namespace ucd {
namespace seq {
namespace {

void run_range(const Move &move, Slice range) {
    const Side &side = move.typed();
    char *packed = move.packed().first() + (range.offset - side.offset);
    if (move.op == Op::replace)
        move_range(side, range, packed, move.direction());
    else
        reduce_range(move, range, packed);
}

} // namespace
} // namespace seq

void run_move(const Move &move) {
    if (move.op == Op::replace && move.limits.threads == 1) [[likely]] {
        if (move.direction() == Direction::pack)
            return seq::move_range(move.from, {move.from.offset, move.length}, move.to.first(),
                                   Direction::pack);
        return seq::move_range(move.to, {move.to.offset, move.length}, move.from.first(),
                               Direction::unpack);
    }
    if (is_conversion(move.op)) return seq::convert_range(move);
    const unsigned threads = seq::useful_threads(move.length, move.limits.threads);
    if (threads == 1) return seq::run_range(move, move.range());
    in_threads(threads, [&](unsigned i) {
        const uint64_t from = seq::share_begin(move, i, threads),
                       to = seq::share_begin(move, i + 1, threads);
        if (to > from) seq::run_range(move, {from, to - from});
    });
}

void move_whole(const KernelPlan &kernel_plan, Direction direction, char *typed, char *packed) {
    const auto &plan = static_cast<const seq::SeqPlan &>(kernel_plan);
    if (plan.form == seq::SeqPlan::Form::nest && plan.top.whole_at_once) [[likely]]
        return seq::run_whole(plan.top, seq::at(typed, plan.layout.start), packed, direction);
    if (plan.form == seq::SeqPlan::Form::contiguous)
        return seq::copy_block(direction, seq::at(typed, plan.layout.start), packed, plan.size);
    seq::move_range({&kernel_plan, typed, 1, 0}, {0, plan.size}, packed, direction);
}

} // namespace ucd
