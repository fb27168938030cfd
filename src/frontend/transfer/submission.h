// A submission: the steps that a call, a plan or a stream takes to move data, and the loop that
// runs them.
#pragma once

#include "backend.h"
#include "host_functions.h"
#include "support/short_list.h"
#include "transfer/check.h"
#include "transfer/context.h"
#include "transfer/progress.h"

#include <memory>

namespace ucd {

// In the order in which steps begin, with the members of Step that say what each does.
enum class StepKind : uint8_t {
    copy_list,  // moves: the executor copies lists of indices to where later steps read them
    relay_list, // moves: the CPU copies such lists once more, when the copies are complete
    launch,     // moves, maker or prepared: one device moves data
    staged,     // checked: two executors move data, through chunks
    on_host,    // checked: the CPU moves data, within the call
};

struct Step {
    StepKind kind;
    Executor from, to;     // the executors of the two sides; equal unless staged
    ShortList<Move> moves; // complete: their types are not needed
    ShortList<CheckedMove> checked;
    MoveMaker *maker = nullptr;                     // makes all moves, instead of a list
    std::shared_ptr<const PreparedLaunch> prepared; // of all moves, if they are repeated

    const Executor &executor() const { return to; }
    Status prepare();
};

struct Submission {
    // These are destroyed last: prepared launches use lists of the types' plans.
    KeptTypes types; // those that the steps need
    std::shared_ptr<const void> kept, memory;
    ShortList<Step> steps;

    bool is_on_host() const {
        return steps.empty() || (steps.size() == 1 && steps.begin()->kind == StepKind::on_host);
    }
    // Whether one launch is all that has to be done.
    bool is_one_launch() const {
        return steps.size() == 1 && steps.begin()->kind == StepKind::launch;
    }
    // Same, on the executor.
    bool is_launch_on(const Executor &executor) const {
        return is_one_launch() && steps.begin()->executor() == executor;
    }
    // Adds a step behind those of its kind.
    Step &add(StepKind kind, const Executor &from, const Executor &to);
};

// A submission that its work keeps alive.
using KeptSubmission = KeepOf<Submission>;

// Runs one move on the host. At a first use, its plan may not have been made yet.
Status run_incomplete(Context &context, CheckedMove m);
[[gnu::always_inline]] inline Status run_routed(Context &context, const CheckedMove &m) {
    if (m.is_copy() || m.typed().plan == nullptr) return run_incomplete(context, m);
    run_move(m);
    return success;
}
// Runs all steps of a submission that is on the host.
[[gnu::always_inline]] inline Status run_on_host(Context &context, const Submission &submission) {
    for (const Step &step : submission.steps)
        for (const CheckedMove &m : step.checked) UCD_TRY(run_routed(context, m));
    return success;
}

// Starts all steps. `operation` stays null if everything was complete on return. `use` is kept
// alive as well until the work is done. If it fails, nothing was started.
Status start(Context &context, KeptSubmission submission, std::shared_ptr<const void> use,
             std::unique_ptr<AsyncOperation> &operation);

// Same, for a submission that is started once.
Status start(Context &context, Submission &&submission, std::unique_ptr<AsyncOperation> &operation);

// Same, for one move of a device, whose types are kept if the launch needs them.
Status start_one(const Executor &device, const CheckedMove &m, bool needs_types,
                 std::unique_ptr<AsyncOperation> &operation);

// Starts the launches of a submission for a stream, which orders them.
Status start_in(const NativeStream &stream, const Submission &submission, const Keep &keep);

} // namespace ucd
