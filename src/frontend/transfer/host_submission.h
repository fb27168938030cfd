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
    const KernelPlan *plan;
    UCD_TRY(plan_of(type, context.host(), Context::host_index, count > 1, plan));
    if (op != Op::replace) elements_of(type);
    return success;
}

// Run to completion.
inline Status launch_on_host(Context &context, std::span<const Move> moves) {
    std::unique_ptr<Event> done; // stays null: the host's backend has no work under way on return
    return context.host().launch(0, moves, done);
}

inline Status run_on_host(Context &context, const Transfer &t, Direction direction, Op op,
                          const Limits &limits) {
    if (t.type->cache.load(std::memory_order_acquire) == nullptr) [[unlikely]]
        if (op == Op::replace && move_at_first_use(t, direction, limits)) return success;
    Move move;
    move.direction = direction; // where both sides are does not matter to the host
    move.op = op;
    move.limits = limits;
    UCD_TRY(complete_move(host_executor(context), t, move));
    return launch_on_host(context, std::span<const Move>(&move, 1));
}

} // namespace ucd
