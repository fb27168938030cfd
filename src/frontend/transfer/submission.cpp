#include "transfer/submission.h"

#include "transfer/host.h"
#include "transfer/staged.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ucd {

Status Step::prepare() {
    Owner<PreparedLaunch> made;
    UCD_TRY(to.backend->prepare_launch(to.device, moves.span(), made));
    prepared = std::move(made);
    return success;
}

Step &Submission::add(StepKind kind, const Executor &from, const Executor &to) {
    steps.push_back({kind, from, to, {}, {}, nullptr, nullptr});
    if (steps.size() == 1) return steps.back();
    const auto later = [](StepKind one, const Step &other) { return one < other.kind; };
    Step *const last = &steps.back();
    Step *const place = std::upper_bound(steps.begin(), last, kind, later);
    std::rotate(place, last, steps.end());
    return *place;
}

Status run_incomplete(Context &context, CheckedMove m) {
    return run_on_host(context, m);
}

namespace {

Status launch(const Step &step, Owner<Event> &done) {
    Backend &backend = *step.to.backend;
    const int device = step.to.device;
    if (step.prepared != nullptr) return backend.launch_prepared(*step.prepared, done);
    if (step.maker != nullptr) return backend.launch_made(device, *step.maker, done);
    return backend.launch(device, step.moves.span(), done);
}

// A launch in progress that is all of a submission. Most calls start nothing else, and a program
// may have many of them outstanding, so this has little memory to write.
class RunningLaunch final : public AsyncOperation {
public:
    RunningLaunch() = default;
    explicit RunningLaunch(Submission &submission)
        : types_(std::move(submission.types)), kept_(std::move(submission.kept)) {}

    void keep(const Type &type) { types_.add(type); }
    // What the launch sets; null if it was complete at once.
    Owner<Event> &done() { return done_; }

    bool progress() noexcept override {
        bool completed = false;
        attempt([&] { return done_->poll(completed); });
        if (!completed && !failed()) return false;
        done_ = nullptr;
        types_ = {};
        kept_ = nullptr;
        return true;
    }
    bool staged() const noexcept override { return false; }

private:
    KeptTypes types_; // destroyed after the event, because the launch may use lists of their plans
    std::shared_ptr<const void> kept_;
    Owner<Event> done_;
};

// A submission in progress.
class RunningSubmission final : public AsyncOperation {
public:
    RunningSubmission(Context &context, KeptSubmission submission, std::shared_ptr<const void> use)
        : context_(context), submission_(std::move(submission)), use_(std::move(use)) {}

    bool progress() noexcept override;
    bool staged() const noexcept override { return is_staged_; }

    // Does everything that can fail before a step begins.
    Status reserve();
    // Begins the steps, except for those that wait for copies of lists.
    Status begin_steps();
    // Called at the end of the call that started the work. `operation` stays null if the work is
    // complete. If the work failed before any of it was started, the call fails. Otherwise the
    // failure is reported when all the work has ended.
    static Status conclude(std::unique_ptr<RunningSubmission> work,
                           std::unique_ptr<AsyncOperation> &operation);

private:
    using Events = ShortList<Owner<Event>>;
    Status copy_lists(const Step &step);
    Status run_on_host(const Step &step);
    Status advance(StagedPipeline &pipeline);
    void stop_if_failed();
    void note(Events &events, Owner<Event> done);

    Context &context_;
    KeptSubmission submission_; // null when the work is complete
    std::shared_ptr<const void> use_;
    std::size_t next_ = 0; // the number of steps that have begun
    Events copies_, launches_;
    std::vector<std::unique_ptr<StagedPipeline>> pipelines_; // of the staged steps
    std::size_t begun_pipelines_ = 0;
    bool is_staged_ = false;
    bool started_ = false; // whether some work cannot be taken back
};

Status RunningSubmission::reserve() {
    std::size_t copies = 0, launches = 0;
    for (const Step &step : submission_->steps) {
        copies += step.kind == StepKind::copy_list ? step.moves.size() : 0;
        launches += step.kind == StepKind::launch ? 1 : 0;
        if (step.kind != StepKind::staged) continue;
        is_staged_ = true;
        pipelines_.push_back(
            std::make_unique<StagedPipeline>(context_, step.from, step.to, step.checked.span()));
        UCD_TRY(pipelines_.back()->reserve());
    }
    // Recording work that was started cannot fail.
    copies_.reserve(copies);
    launches_.reserve(launches);
    return success;
}

void RunningSubmission::note(Events &events, Owner<Event> done) {
    started_ = true;
    if (done != nullptr) events.push_back(std::move(done));
}

Status RunningSubmission::copy_lists(const Step &step) {
    for (const Move &list : step.moves) {
        Owner<Event> done;
        UCD_TRY(step.to.backend->copy(step.to.device, list.to.address, list.from.address,
                                      list.length, done));
        if (done != nullptr) note(copies_, std::move(done));
    }
    return success;
}

Status RunningSubmission::advance(StagedPipeline &pipeline) {
    const Status status = pipeline.advance();
    started_ = started_ || pipeline.started();
    return status;
}

Status RunningSubmission::run_on_host(const Step &step) {
    for (const CheckedMove &m : step.checked) {
        UCD_TRY(run_routed(context_, m));
        started_ = true;
    }
    return success;
}

Status RunningSubmission::begin_steps() {
    const std::span<const Step> steps = submission_->steps.span();
    while (next_ < steps.size()) {
        const Step &step = steps[next_];
        if (step.kind != StepKind::copy_list && !copies_.empty()) return success;
        ++next_;
        switch (step.kind) {
        case StepKind::copy_list: UCD_TRY(copy_lists(step)); break;
        case StepKind::relay_list:
            for (const Move &list : step.moves)
                std::memcpy(list.to.address, list.from.address, list.length);
            break;
        case StepKind::launch: {
            Owner<Event> done;
            UCD_TRY(launch(step, done));
            note(launches_, std::move(done));
            break;
        }
        case StepKind::staged: UCD_TRY(advance(*pipelines_[begun_pipelines_++])); break;
        case StepKind::on_host: UCD_TRY(run_on_host(step)); break;
        }
    }
    return success;
}

void RunningSubmission::stop_if_failed() {
    if (failed())
        for (auto &pipeline : pipelines_) pipeline->stop();
}

bool RunningSubmission::progress() noexcept {
    attempt([this] { return poll(copies_); });
    if (!copies_.empty()) return false;
    if (!failed()) attempt([this] { return begin_steps(); });
    attempt([this] { return poll(launches_); });
    stop_if_failed();
    for (auto &pipeline : pipelines_) attempt([&] { return advance(*pipeline); });
    stop_if_failed();
    const bool completed = launches_.empty() &&
                           std::all_of(pipelines_.begin(), pipelines_.end(),
                                       [](const auto &pipeline) { return pipeline->completed(); });
    if (completed) {
        pipelines_.clear(); // destroyed before the types, because they use their plans
        submission_ = {};
        use_ = nullptr;
    }
    return completed;
}

Status RunningSubmission::conclude(std::unique_ptr<RunningSubmission> work,
                                   std::unique_ptr<AsyncOperation> &operation) {
    // Do not poll launches here: that would cost as much as starting them.
    const bool only_launches =
        !work->launches_.empty() && work->pipelines_.empty() && work->copies_.empty();
    const bool completed = !only_launches && work->progress();
    if (work->failed() && !work->started_) return work->outcome();
    if (!completed || work->failed()) operation = std::move(work);
    return success;
}

} // namespace

Status start(Context &context, KeptSubmission submission, std::shared_ptr<const void> use,
             std::unique_ptr<AsyncOperation> &operation) {
    auto work = std::make_unique<RunningSubmission>(context, std::move(submission), std::move(use));
    UCD_TRY(work->reserve());
    work->attempt([&] { return work->begin_steps(); });
    return RunningSubmission::conclude(std::move(work), operation);
}

Status start(Context &context, Submission &&submission,
             std::unique_ptr<AsyncOperation> &operation) {
    if (!submission.is_one_launch())
        return start(context, KeptSubmission(std::move(submission)), nullptr, operation);
    auto work = std::make_unique<RunningLaunch>(submission);
    UCD_TRY(launch(*submission.steps.begin(), work->done()));
    if (work->done() != nullptr) operation = std::move(work);
    return success;
}

Status start_one(const Executor &device, const CheckedMove &m, bool needs_types,
                 std::unique_ptr<AsyncOperation> &operation) {
    auto work = std::make_unique<RunningLaunch>();
    for (const Type *type : {m.from_type, m.to_type})
        if (needs_types && type != nullptr) work->keep(*type);
    const Move &move = m;
    UCD_TRY(device.backend->launch(device.device, std::span(&move, 1), work->done()));
    if (work->done() != nullptr) operation = std::move(work);
    return success;
}

Status start_in(const NativeStream &stream, const Submission &submission, const Keep &keep) {
    for (const Step &step : submission.steps) {
        Backend &backend = *step.to.backend;
        if (step.prepared != nullptr)
            UCD_TRY(backend.launch_prepared_in(stream, *step.prepared, keep));
        else if (step.maker != nullptr)
            UCD_TRY(backend.launch_made_in(stream, *step.maker, keep));
        else
            UCD_TRY(backend.launch_in(stream, step.moves.span(), keep));
    }
    return success;
}

} // namespace ucd
