// From a checked transfer to the move that a backend is given.
#pragma once

#include "prepared/type_cache.h"
#include "transfer/executor.h"
#include "transfer/transfer.h"

namespace ucd {

// How transfers are moved that go to one backend together. Equal ones may share a launch.
struct Dispatch {
    Executor executor;
    MoveSettings settings;
    friend bool operator==(const Dispatch &, const Dispatch &) = default;
};

// The one place where a move is filled, but for its settings. It is filled where it stays: a copy,
// read in other portions than it was written in, would stall the processor.
[[gnu::always_inline]] inline void fill_move(const KernelPlan *plan, const Elements *elements,
                                             const Transfer &t, Move &move) {
    move.plan = plan;
    move.typed = t.typed;
    move.packed = t.packed;
    move.count = t.count;
    move.offset = t.offset;
    move.length = t.length;
    move.elements = elements;
}

// Completes a move that has its settings, with the plan of the transfer's type, which is made at
// first use.
[[gnu::always_inline]] inline Status complete_move(const Executor &executor, const Transfer &t,
                                                   Move &move) {
    const KernelPlan *plan;
    UCD_TRY(plan_of(*t.type, *executor.backend, executor.index, t.count > 1, plan));
    fill_move(plan, move.op == Op::replace ? nullptr : &elements_of(*t.type), t, move);
    return success;
}

inline Status make_move(const Dispatch &dispatch, const Transfer &t, Move &move) {
    static_cast<MoveSettings &>(move) = dispatch.settings;
    return complete_move(dispatch.executor, t, move);
}

} // namespace ucd
