// Moves that are checked, routed and prepared once, and started many times.
#pragma once

#include "transfer/submission.h"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ucd {

class MovePlan : public std::enable_shared_from_this<MovePlan> {
public:
    // New addresses for members. If an array is null, that side does not change.
    struct Rebase {
        std::size_t first, count;
        const void *const *inbufs;
        void *const *outbufs;
    };

    // Makes a plan of checked members. Fails as a call with these members would.
    static Status create(Context &context, std::vector<CheckedMember> members, Op op,
                         const Hints &hints, std::shared_ptr<MovePlan> &plan);

    // Starts the moves, as the corresponding call would. INVALID_ARG while an earlier start has not
    // ended.
    Status start(Context &context, std::unique_ptr<AsyncOperation> &operation);
    Status start_in(Context &context, const StreamTarget &stream);
    Status rebase(Context &context, const Rebase &rebase);

    MovePlan(const Context &context, std::vector<CheckedMember> members, Op op, const Hints &hints);

private:
    // The memories of a member's two sides; none if a hint names the memory, or if nothing is
    // moved.
    using Memories = std::array<std::optional<MemoryLocation>, 2>;
    struct InStream {
        Executor executor;
        KeptMembers routed;
    };
    class Start;

    Status check_usable(const Context &context) const;
    Status add_members(Submission &submission, const std::vector<CheckedMember> &members) const;
    Status route(Context &context, const std::vector<CheckedMember> &members,
                 KeptMembers &routed) const;
    Status route_in(Context &context, const std::vector<CheckedMember> &members,
                    const StreamTarget &stream, KeptMembers &routed) const;
    Status find_memories(LocationCache &locations, const CheckedMember &m,
                         Memories &memories) const;

    const uint64_t context_number_;
    const Op op_;
    const std::optional<LocationHint> in_hint_, out_hint_;
    Hints hints_; // refers to the two members above
    std::vector<CheckedMember> members_;
    std::vector<Memories> memories_; // of members_
    KeptTypes types_;
    KeptMembers routed_;             // null if lists of indices have to be brought for each start
    ShortList<InStream> in_streams_; // prepared at the first start in a stream of each device
    std::atomic<bool> is_started_{false}; // a start without a stream has not ended
};

} // namespace ucd
