// Makes submissions: decides by which steps the moves of one call or plan are done.
#pragma once

#include "transfer/check.h"
#include "transfer/index_lists.h"
#include "transfer/router.h"
#include "transfer/staged.h"
#include "transfer/submission.h"

#include <memory>

namespace ucd {

// Loads what moves of (count, type) with the op need in a stream.
Status prepare_in(const StreamTarget &stream, const Type &type, uint64_t count, Op op,
                  const Limits &limits);

// Whether the submission is started repeatedly. A type that is moved once may be moved by the lists
// that describe it.
enum class Reuse : uint8_t { once, again };

// Starts a move without an op that one device does, by the plans that the types have for it, if
// hints say where both buffers are: nothing has to be built or kept for this, but the types if the
// launch needs them. Leaves `started` false for any other move, one in a stream that has to keep
// types included, and what is wrong to SubmissionBuilder, which words it.
Status start_known(Context &context, const CheckedMove &m, const Hints &hints,
                   const StreamTarget *stream, std::unique_ptr<AsyncOperation> &operation,
                   bool &started);

// Does everything that can fail without a device. Starts nothing.
class SubmissionBuilder {
public:
    // Without a stream, each member is moved by an executor that can access both of its sides, or
    // through chunks. With a stream, its device moves all members. The router, which knows context,
    // hints and stream, outlives the builder.
    explicit SubmissionBuilder(Router &router, Reuse reuse = Reuse::once);

    // Adds a member; members of length 0 need no work.
    Status add(CheckedMove m);

    // Adds packs or unpacks for which OneWay says that one device moves them, instead of members.
    // They are made when they are launched. `types` keeps their types.
    void add(const Executor &device, MoveMaker &moves, std::shared_ptr<const void> types);

    // Keeps an object alive until the work is done.
    void keep_alive(std::shared_ptr<const void> what) { submission_.kept = std::move(what); }

    // Ends the submission, which takes all members that were added.
    Status finish(KeptSubmission &submission);

    // Ends the submission and starts it; without a stream, `operation` is null if everything was
    // complete on return. Members with both sides on the host are moved within the call; nothing
    // waits for a device. If it fails, nothing was started, except that a stream may have the steps
    // before the one that failed.
    Status start(std::unique_ptr<AsyncOperation> &operation);

    // Whether a member is in several memories.
    bool is_any_divided() const { return is_any_divided_; }

private:
    Status add_part(CheckedMove m, const char *first_in, const char *first_out);
    Status copy_lists(const Executor &executor, const Type *&type);
    void keep_types(const CheckedMove &m, bool after_launch);
    Status add_on_host(CheckedMove &m, const Route &route);
    Status add_staged(CheckedMove &m, const Route &route);
    Status check_device(const Executor &writer, const CheckedMove &m) const;
    Status find_launch(CheckedMove &m, const Route &route, bool &found);
    Status add_launch(CheckedMove &m, const Route &route);
    Step &step(StepKind kind, const Route &route, const CheckedMove &m);

    Status add_converting_step(const std::vector<Part> &parts, Op op, const char *from, char *to);
    Status launch_staged(const Step &staged, char *memory, std::size_t bytes);
    Status launch_staged_steps();

    Router &router_;
    Context &context_;
    const Hints &hints_;
    const StreamTarget *const stream_;
    const Reuse reuse_;
    Submission submission_;
    ShortList<const Type *> used_in_call_;
    std::unique_ptr<CopiedLists> lists_; // made when the first list has to be copied
    bool is_any_divided_ = false;
};

} // namespace ucd
