#include "transfer/single_launch.h"

namespace ucd {

Status SingleLaunch::start(const Dispatch &dispatch, const Transfer &t,
                           std::unique_ptr<AsyncOperation> &operation) {
    Move move;
    UCD_TRY(make_move(dispatch, t, move));
    auto work = std::make_unique<SingleLaunch>();
    if (move.plan->is_needed_by(move)) {
        retain(*t.type);
        work->type_.reset(t.type);
    }
    const Executor &executor = dispatch.executor;
    UCD_TRY(
        executor.backend->launch(executor.device, std::span<const Move>(&move, 1), work->done_));
    if (work->done_ != nullptr) operation = std::move(work);
    return success;
}

bool SingleLaunch::progress() noexcept {
    bool completed = true;
    if (done_ != nullptr) attempt([&] { return done_->poll(completed); });
    if (!completed && !failed()) return false;
    done_.reset(); // before the type whose plan it uses
    type_.reset();
    return true;
}

} // namespace ucd
