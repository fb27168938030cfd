// The members of one call on their way to backends: run on the host inside the call, started as
// asynchronous work, or put into a caller's stream.
#pragma once

#include "backend.h"
#include "transfer/check.h"
#include "transfer/device.h"
#include "transfer/host.h"
#include "transfer/index_lists.h"
#include "transfer/route.h"

#include <memory>
#include <vector>

namespace ucd {

// How packs or unpacks are moved that one device moves together.
struct Dispatch {
    Executor executor;
    MoveSettings settings;
    friend bool operator==(const Dispatch &, const Dispatch &) = default;
};

// What members have become, by who moves them. All of it is complete: starting it needs nothing
// more of the types, which `types` keeps where the work needs them.
struct RoutedMembers {
    struct Staged {
        Executor from, to;
        StagedMove move;
    };
    ShortList<Launch> launches;
    std::vector<Launch> steps; // in a stream, one after the other
    ShortList<CheckedMove> on_host;
    std::vector<CheckedCopy> host_copies;
    std::vector<Staged> staged;
    KeptTypes types;
    std::shared_ptr<const void> kept, memory_of_steps;

    bool all_on_host() const { return launches.empty() && staged.empty(); }
    // Whether nothing but one launch on the executor is to be done.
    bool is_launch_on(const Executor &executor) const {
        return launches.size() == 1 && launches.begin()->executor == executor && staged.empty() &&
               on_host.empty() && host_copies.empty();
    }
};

// The one way in which members are started, but for streams: launches on devices first, then what
// goes through chunks, then what the host does inside the call. `operation` stays null if
// everything was complete on return. `work` keeps what the members need.
Status start_members(Context &context, const RoutedMembers &members, Op op, const Limits &limits,
                     std::unique_ptr<AsyncTransfer> work,
                     std::unique_ptr<AsyncOperation> &operation);
// What the host does; `ran` tells whether it did anything.
Status run_all_on_host(Context &context, const RoutedMembers &members, Op op, const Limits &limits,
                       bool &ran);
// In a stream.
Status start_members_in(const NativeStream &stream, const RoutedMembers &members,
                        const std::shared_ptr<const void> &keep);

// What a member is moved for: a type that is moved once may be moved as it was described.
enum class Reuse : uint8_t { once, again };

// Everything that can fail without a device comes first, by add(); then everything is started.
class Submission {
public:
    // Without a stream, each member is moved by an executor that reaches both of its sides, or
    // through chunks. With one, all are moved by its device. Context, hints and stream live as long
    // as the submission.
    Submission(Context &context, Op op, const Hints &hints, const StreamTarget *stream = nullptr,
               Reuse reuse = Reuse::once);

    // A member; those of length 0 need no work.
    Status add(CheckedMove m);
    Status add(CheckedCopy c);
    Status add(const CheckedMember &m) { return m.is_copy ? add(m.copy) : add(m.move); }

    // Packs or unpacks that all go_one_way(), made when they are launched, in place of members.
    // `types` are theirs.
    void add(const Dispatch &dispatch, MoveMaker &moves, std::shared_ptr<const void> types);

    // What lives until the work is done.
    void keep(std::shared_ptr<const void> what) { members_.kept = std::move(what); }
    // Forgets all that was added.
    void clear() { members_ = {}; }

    // In place of start(): what was added, to be started again and again. Its launches are
    // prepared. It stays null if lists of indices must be brought, which is done for each start
    // anew.
    Status prepare(std::shared_ptr<const RoutedMembers> &members);

    // Starts what was added. `operation` stays null if everything was complete on return, and for
    // a stream, in whose order the work is. Members between two sides on the host run inside the
    // call; nothing waits for a device. A failure starts nothing.
    Status start(std::unique_ptr<AsyncOperation> &operation);

    // True if one device moves all members of a direction whatever their addresses are, as the
    // hints say. What is wrong with a hint, add() says, of a member.
    bool go_one_way(Direction direction, Dispatch &dispatch);

    // The same of a member, whose first bytes are there. The first one that is asked about decides
    // on the dispatch; of the others, true if they have the same one.
    bool goes_one_way(Direction direction, uintptr_t typed, uintptr_t packed, Dispatch &dispatch) {
        // Most members of a batch are in one allocation.
        if (alike_typed_.holds(reinterpret_cast<const void *>(typed)) &&
            alike_packed_.holds(reinterpret_cast<const void *>(packed))) [[likely]]
            return true;
        return goes_one_way_elsewhere(direction, reinterpret_cast<const char *>(typed),
                                      reinterpret_cast<const char *>(packed), dispatch);
    }
    bool has_dispatch() const { return has_dispatch_; }

private:
    const LocationHint *typed_hint(Direction direction) const {
        return direction == Direction::pack ? hints_.inbuf : hints_.outbuf;
    }
    const LocationHint *packed_hint(Direction direction) const {
        return direction == Direction::pack ? hints_.outbuf : hints_.inbuf;
    }
    bool goes_one_way_elsewhere(Direction direction, const char *typed, const char *packed,
                                Dispatch &dispatch);

    Status add_stretch(CheckedMove &m, const char *first_byte);
    Status add_stretch(CheckedCopy &c, const char *first_in, const char *first_out);
    bool as_one_move(const CheckedCopy &c, CheckedMove &m) const;

    Status find_route_of(const CheckedMove &m, const char *first_byte, Route &route);
    Status find_route_of(const CheckedCopy &c, const char *first_in, const char *first_out,
                         Route &route);
    Status route_by_lists(const MemoryLocation &typed, const MemoryLocation &packed,
                          const Type &type, Route &route);
    Status bring_lists(const Executor &executor, const Type *&type);
    void keep_if_later(const Type &type);
    Status check_device(const Executor &writer, const Type &type, const CopyMove::Side &side,
                        uint64_t length) const;
    Status add_launch(CheckedMove &m, const Route &route);
    Launch &launch_on(const Executor &executor);

    Status find_route_in_stream(const char *in, const char *out, Direction direction, Route &route);
    Status check_reached(const LocationHint *hint, const char *address, const char *argument,
                         MemoryKind &kind);
    Status find_steps();

    Context &context_;
    const Op op_;
    const Hints &hints_;
    const StreamTarget *const stream_;
    const Reuse reuse_;
    LocationCache locations_;
    RoutedMembers members_;
    ShortList<const Type *> used_in_call_;
    std::unique_ptr<BroughtLists> lists_; // made for the first one that must be brought
    // Of members that are asked about: where the last one is, once a dispatch is decided on.
    MemoryLocation alike_typed_, alike_packed_;
    bool has_dispatch_ = false;
    // Of streams: whether hints say that all is reached; where the two sides of the last member
    // are, or of all; whether the member is in several places.
    bool all_reached_ = false;
    MemoryKind in_kind_ = MemoryKind::device, out_kind_ = MemoryKind::device;
    bool is_divided_ = false;
};

} // namespace ucd
