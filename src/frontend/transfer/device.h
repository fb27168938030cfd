// The unfinished work of a call on devices: launches and staged pipelines.
#pragma once

#include "support/short_list.h"
#include "transfer/progress.h"
#include "transfer/staged.h"

#include <functional>
#include <memory>
#include <vector>

namespace ucd {

// Moves that one device performs together.
struct Launch {
    Executor executor;
    ShortList<Move> moves;
    MoveMaker *maker = nullptr;                     // makes all moves, instead of a list
    std::shared_ptr<const PreparedLaunch> prepared; // of all moves, if they are repeated

    Status prepare();
    Status start(Owner<Event> &done) const;
    Status start_in(const NativeStream &stream, const Keep &keep) const;
};

class AsyncTransfer final : public AsyncOperation {
public:
    bool progress() noexcept override;
    bool staged() const noexcept override { return staged_; }

    // Keeps the types alive until the work is done.
    void keep(KeptTypes types) { types_ = std::move(types); }
    // Keeps anything else alive until the work is done.
    void keep(std::shared_ptr<const void> what) { kept_.push_back(std::move(what)); }
    // Reserves memory, so that recording a launch that was started cannot fail.
    void expect_launches(std::size_t count) { launches_.reserve(count); }
    Status launch(const Launch &launch);
    // Adds a move to the pipeline of its kind between two executors, which is created if necessary.
    void add(Context &context, const Executor &from, const Executor &to, const CheckedMove &move);
    Status reserve_chunks();

    // Sets the work to do after certain copies are complete. Before that, nothing else is started,
    // pipelines included. `then` starts everything except pipelines.
    using Continuation = std::function<Status(AsyncTransfer &)>;
    void continue_by(Continuation then) { continuation_ = std::move(then); }
    void expect_copies(std::size_t count) { copies_.reserve(count); }
    Status copy_first(const Executor &by, void *to, const void *from, std::size_t bytes);

    // Called at the end of the call that started the work; advances it once. `operation` stays null
    // if the work is complete. If the work failed before anything was `started`, here or by the
    // caller, the call fails. Otherwise the failure is reported when all the work has ended.
    static Status conclude(std::unique_ptr<AsyncTransfer> work, bool started,
                           std::unique_ptr<AsyncOperation> &operation);

private:
    bool copies_completed() noexcept;
    void note(Owner<Event> done);

    KeptTypes types_;
    ShortList<std::shared_ptr<const void>> kept_;
    ShortList<Owner<Event>> copies_, launches_;
    Continuation continuation_; // empty if there are no copies, or they are complete
    std::vector<std::unique_ptr<StagedPipeline>> pipelines_;
    bool staged_ = false;
    bool started_ = false; // some work has been started
};

} // namespace ucd
