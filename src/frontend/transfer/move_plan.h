// Moves that are checked, routed and prepared once, and started many times.
#pragma once

#include "transfer/submission_builder.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace ucd {

class MovePlan : public std::enable_shared_from_this<MovePlan> {
public:
    // Addresses of consecutive members. If an array is null, that side keeps the plan's.
    struct Buffers {
        const void *const *inbufs;
        void *const *outbufs;
    };

    // Makes a plan of checked members. Fails as a call with these members would.
    static Status create(Context &context, std::vector<CheckedMove> members, const Hints &hints,
                         std::shared_ptr<MovePlan> &plan);

    // Starts the moves, as the corresponding call would. INVALID_ARG while an earlier start has not
    // ended.
    Status start(Context &context, std::unique_ptr<AsyncOperation> &operation);
    Status start_in(Context &context, const StreamTarget &stream);
    // Same, with other buffers for this start. Threads may do it at once.
    Status start_with(Context &context, const Buffers &buffers,
                      std::unique_ptr<AsyncOperation> &operation);
    Status start_with_in(Context &context, const Buffers &buffers, const StreamTarget &stream);
    Status rebase(Context &context, std::size_t first, std::size_t count, const Buffers &buffers);

    MovePlan(const Context &context, std::vector<CheckedMove> members, const Hints &hints);

private:
    // The memories of a member's two sides; none if a hint names the memory, or if nothing is
    // moved.
    using Memories = std::array<std::optional<MemoryLocation>, 2>;
    struct InStream {
        Executor executor;
        KeptSubmission submission;
    };
    class Use;

    const Step *only_step() const;
    Status check_usable(const Context &context) const;
    Status check_buffers(const Context &context, std::size_t first, std::size_t count,
                         const Buffers &buffers) const;
    Status check_memories(const Context &context, std::size_t first, std::size_t count,
                          const Buffers &buffers) const;
    std::vector<CheckedMove> with_buffers(std::size_t first, std::size_t count,
                                          const Buffers &buffers) const;
    Status begin_with(const Context &context, const Buffers &buffers, Use &use) const;
    template <class M, class Body>
    Status for_each_with(std::span<const M> moves, const Buffers &buffers, Body body) const;
    Submission launch_with(const Step &step, const Buffers &buffers) const;
    Status make_ready(const StreamTarget &stream);
    Status add_members(SubmissionBuilder &builder, const std::vector<CheckedMove> &members) const;
    Status route(Context &context, const std::vector<CheckedMove> &members,
                 const StreamTarget *stream, KeptSubmission &submission, bool &is_divided) const;
    Status find_memories(LocationCache &locations, const CheckedMove &m, const char *in,
                         const char *out, Memories &memories) const;

    const uint64_t context_number_;
    const std::optional<LocationHint> in_hint_, out_hint_;
    Hints hints_; // refers to the two members above
    std::vector<CheckedMove> members_;
    std::vector<Memories> memories_; // of members_
    KeptTypes types_;
    KeptSubmission submission_;
    ShortList<InStream> in_streams_; // prepared at the first start in a stream of each device
    bool is_divided_ = false;        // some member is in several memories
    // The step of the submission, if it is the only one and has a move for each member that is not
    // empty: then a start with other buffers only has to move the addresses.
    const Step *only_step_ = nullptr;
    std::mutex ready_mutex_;
    ShortList<Executor> ready_; // what starts with other buffers in streams need is loaded there
    std::atomic<uint32_t> in_use_{0}; // see Use
};

} // namespace ucd
