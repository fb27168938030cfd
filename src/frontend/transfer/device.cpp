#include "transfer/device.h"

#include <algorithm>
#include <utility>

namespace ucd {

Status Launch::prepare() {
    Owner<PreparedLaunch> made;
    UCD_TRY(executor.backend->prepare_launch(executor.device, moves.span(), made));
    prepared = std::move(made);
    return success;
}

Status Launch::start(Owner<Event> &done) const {
    if (prepared != nullptr) return executor.backend->launch_prepared(*prepared, done);
    if (maker != nullptr) return executor.backend->launch_made(executor.device, *maker, done);
    return executor.backend->launch(executor.device, moves.span(), done);
}

Status Launch::start_in(const NativeStream &stream, const Keep &keep) const {
    if (prepared != nullptr) return executor.backend->launch_prepared_in(stream, *prepared, keep);
    if (maker != nullptr) return executor.backend->launch_made_in(stream, *maker, keep);
    return executor.backend->launch_in(stream, moves.span(), keep);
}

Status AsyncTransfer::launch(const Launch &launch) {
    Owner<Event> done;
    UCD_TRY(launch.start(done));
    note(std::move(done));
    return success;
}

void AsyncTransfer::note(Owner<Event> done) {
    started_ = true;
    if (done != nullptr) launches_.push_back(std::move(done));
}

void AsyncTransfer::add(Context &context, const Executor &from, const Executor &to,
                        const CheckedMove &move) {
    staged_ = true;
    const BytesOf bytes = bytes_of(move);
    for (auto &pipeline : pipelines_)
        if (pipeline->takes(from, to, bytes)) return pipeline->add(move);
    pipelines_.push_back(
        std::make_unique<StagedPipeline>(context, from, to, bytes, move.op, move.limits));
    pipelines_.back()->add(move);
}

Status AsyncTransfer::reserve_chunks() {
    for (auto &pipeline : pipelines_) UCD_TRY(pipeline->reserve());
    return success;
}

Status AsyncTransfer::conclude(std::unique_ptr<AsyncTransfer> work, bool started,
                               std::unique_ptr<AsyncOperation> &operation) {
    // Do not poll launches here: that would cost as much as starting them.
    const bool only_launches =
        !work->launches_.empty() && !work->staged_ && work->continuation_ == nullptr;
    const bool completed = !only_launches && work->progress();
    if (work->failed() && !started && !work->started_) return work->outcome();
    if (!completed || work->failed()) operation = std::move(work);
    return success;
}

Status AsyncTransfer::copy_first(const Executor &by, void *to, const void *from,
                                 std::size_t bytes) {
    Owner<Event> done;
    UCD_TRY(by.backend->copy(by.device, to, from, bytes, done));
    if (done == nullptr) return success;
    started_ = true;
    copies_.push_back(std::move(done));
    return success;
}

bool AsyncTransfer::copies_completed() noexcept {
    attempt([this] { return poll(copies_); });
    if (!copies_.empty()) return false;
    const Continuation then = std::exchange(continuation_, nullptr);
    if (!failed()) attempt([&] { return then(*this); });
    return true;
}

bool AsyncTransfer::progress() noexcept {
    if (continuation_ != nullptr && !copies_completed()) return false;
    attempt([this] { return poll(launches_); });
    for (auto &pipeline : pipelines_) {
        attempt([&] { return pipeline->advance(); });
        started_ = started_ || pipeline->started();
    }
    if (failed())
        for (auto &pipeline : pipelines_) pipeline->stop();
    const bool completed = launches_.empty() &&
                           std::all_of(pipelines_.begin(), pipelines_.end(),
                                       [](const auto &pipeline) { return pipeline->completed(); });
    if (completed) {
        pipelines_.clear(); // destroyed before the types, because they use their plans
        types_.clear();
        kept_.clear();
    }
    return completed;
}

} // namespace ucd
