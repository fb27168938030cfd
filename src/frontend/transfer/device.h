// What a call has started on devices and not finished: launches and staged pipelines.
#pragma once

#include "support/short_list.h"
#include "transfer/progress.h"
#include "transfer/staged.h"

#include <functional>
#include <memory>
#include <vector>

namespace ucd {

// What one device is to do at once.
struct Launch {
    Executor executor;
    ShortList<Move> moves;
    std::vector<CopyMove> copies;
    MoveMaker *maker = nullptr;                     // makes all of it instead
    std::shared_ptr<const PreparedLaunch> prepared; // of all of it, if it comes again

    MoveList moves_and_copies() const { return {moves.span(), copies}; }
    Status prepare();
    Status start(std::unique_ptr<Event> &done) const;
    Status start_in(const NativeStream &stream, const std::shared_ptr<const void> &keep) const;
};

class AsyncTransfer final : public AsyncOperation {
public:
    bool progress() noexcept override;
    bool staged() const noexcept override { return staged_; }

    // They live until the work is done.
    void keep(KeptTypes types) { types_ = std::move(types); }
    // Whatever it is.
    void keep(std::shared_ptr<const void> what) { kept_.push_back(std::move(what)); }
    // Makes room, so that what has been started can always be noted down.
    void expect_launches(std::size_t count) { launches_.reserve(count); }
    Status launch(const Launch &launch);
    // Adds a move to the pipeline of its kind between two executors; made if there is none yet.
    void add(ChunkPools &pools, const Executor &from, const Executor &to, const StagedMove &move,
             Op op, const Limits &limits);
    Status reserve_chunks();

    // Copies that must be complete before anything else of this work, pipelines included, starts.
    // Then `then` starts what is not a pipeline's.
    using Continuation = std::function<Status(AsyncTransfer &)>;
    void continue_by(Continuation then) { continuation_ = std::move(then); }
    void expect_copies(std::size_t count) { copies_.reserve(count); }
    Status copy_first(const Executor &by, void *to, const void *from, std::size_t bytes);

    // The end of the call that started the work, which moves it forward once. `operation` stays
    // null if it is complete. A failure is the call's if it came before anything was `started`,
    // here or by the caller; else it is reported when everything has come to its end.
    static Status conclude(std::unique_ptr<AsyncTransfer> work, bool started,
                           std::unique_ptr<AsyncOperation> &operation);

private:
    bool copies_completed() noexcept;
    void note(std::unique_ptr<Event> done);

    KeptTypes types_;
    ShortList<std::shared_ptr<const void>> kept_;
    ShortList<std::unique_ptr<Event>> copies_, launches_;
    Continuation continuation_; // none: the copies are complete, or there are none
    std::vector<std::unique_ptr<StagedPipeline>> pipelines_;
    bool staged_ = false;
    bool started_ = false; // something has been set in motion
};

} // namespace ucd
