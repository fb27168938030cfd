// Sends the members of one call to backends: runs them on the host within the call, starts them as
// asynchronous work, or puts them into a caller's stream.
#pragma once

#include "backend.h"
#include "transfer/check.h"
#include "transfer/device.h"
#include "transfer/host.h"
#include "transfer/index_lists.h"
#include "transfer/router.h"

#include <memory>
#include <vector>

namespace ucd {

// How one device moves packs or unpacks together.
struct Dispatch {
    Executor executor;
    Direction direction = Direction::pack;
    MemoryKind from_kind = MemoryKind::device, to_kind = MemoryKind::device;
    Limits limits;
    friend bool operator==(const Dispatch &, const Dispatch &) = default;
};

// The moves of members, sorted by executor. They are complete: starting them does not need the
// types, and `types` keeps those that the work needs.
struct RoutedMembers {
    struct Staged {
        Executor from, to;
        CheckedMove move;
    };
    // These are destroyed last: prepared launches use lists of the types' plans.
    KeptTypes types;
    std::shared_ptr<const void> kept, memory_of_steps;
    ShortList<Launch> launches; // in a stream, one after the other
    ShortList<CheckedMove> on_host;
    std::vector<Staged> staged;

    bool all_on_host() const { return launches.empty() && staged.empty(); }
    // Whether one launch on the executor is all that has to be done.
    bool is_launch_on(const Executor &executor) const {
        return launches.size() == 1 && launches.begin()->executor == executor && staged.empty() &&
               on_host.empty();
    }
};

// Members that the work in a stream keeps alive.
using KeptMembers = KeepOf<RoutedMembers>;

// Starts members without a stream. All such starts use this function. Launches on devices come
// first, then data that goes through chunks, then the host's part, which runs within the call.
// `operation` stays null if everything was complete on return. `work` keeps what the members need.
Status start_members(Context &context, const RoutedMembers &members,
                     std::unique_ptr<AsyncTransfer> work,
                     std::unique_ptr<AsyncOperation> &operation);
// Runs one move of the host's part. At a first use, its plan may not have been made yet.
Status run_incomplete(Context &context, CheckedMove m);
[[gnu::always_inline]] inline Status run_routed(Context &context, const CheckedMove &m) {
    const bool is_complete = !m.is_copy() && m.typed().plan != nullptr;
    return is_complete ? run_complete(context, m) : run_incomplete(context, m);
}
// Runs the host's part. `ran` tells whether there was any.
Status run_all_on_host(Context &context, const RoutedMembers &members, bool &ran);
// Starts members in a stream.
Status start_members_in(const NativeStream &stream, const RoutedMembers &members, const Keep &keep);

// Loads what moves of (count, type) with the op need in a stream.
Status prepare_in(const StreamTarget &stream, const Type &type, uint64_t count, Op op,
                  const Limits &limits);

// Whether the move is repeated. A type that is moved once may be moved by the lists that describe
// it.
enum class Reuse : uint8_t { once, again };

// Starts moves in two phases: add() does everything that can fail without a device, and then
// everything is started.
class Submission {
public:
    // Without a stream, each member is moved by an executor that can access both of its sides, or
    // through chunks. With a stream, its device moves all members. Context, hints and stream
    // outlive the submission.
    Submission(Context &context, Op op, const Hints &hints, const StreamTarget *stream = nullptr,
               Reuse reuse = Reuse::once);

    // Adds a member; members of length 0 need no work.
    Status add(CheckedMove m);

    // Adds packs or unpacks for which OneWay says that one device moves them, instead of members.
    // They are made when they are launched. `types` keeps their types.
    void add(const Dispatch &dispatch, MoveMaker &moves, std::shared_ptr<const void> types);

    // Keeps an object alive until the work is done.
    void keep(std::shared_ptr<const void> what) { members_.kept = std::move(what); }
    // Removes all members that were added.
    void clear() { members_ = {}; }

    // Used instead of start() if the members will be started repeatedly. Prepares their launches.
    // `members` stays null if lists of indices have to be copied first, which each start must
    // do.
    Status prepare(KeptMembers &members);

    // Starts the members that were added. `operation` stays null if everything was complete on
    // return, and for a stream, which orders the work. Members with both sides on the host run
    // within the call; nothing waits for a device. If it fails, nothing was started.
    Status start(std::unique_ptr<AsyncOperation> &operation);

    // Whether a member is in several memories.
    bool is_any_divided() const { return is_any_divided_; }
    Router &router() { return router_; }

private:
    Status add_part(CheckedMove m, const char *first_in, const char *first_out);
    void use_packed(CheckedMove &m, const char *&first_in, const char *&first_out) const;
    Status copy_lists(const Executor &executor, const Type *&type);
    void keep(const CheckedMove &m, bool after_launch);
    Status add_on_host(CheckedMove &m, const Route &route);
    Status check_device(const Executor &writer, const CheckedMove &m) const;
    Status find_launch(CheckedMove &m, const Route &route, bool &found);
    Status add_launch(CheckedMove &m, const Route &route);
    Launch &launch_on(const Executor &executor);

    Status add_converting_step(const std::vector<Part> &parts, const char *from, char *to);
    Status find_steps();

    Context &context_;
    const Op op_;
    const Hints &hints_;
    const StreamTarget *const stream_;
    const Reuse reuse_;
    Router router_;
    RoutedMembers members_;
    ShortList<const Type *> used_in_call_;
    std::unique_ptr<CopiedLists> lists_; // made when the first list has to be copied
    bool is_any_divided_ = false;
};

} // namespace ucd
