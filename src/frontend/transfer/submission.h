// The transfers of one call on their way to backends: run on the host inside the call, started as
// asynchronous work, or put into a caller's stream.
#pragma once

#include "backend.h"
#include "transfer/async_transfer.h"
#include "transfer/batch_cache.h"
#include "transfer/index_lists.h"
#include "transfer/location.h"
#include "transfer/route.h"

#include <memory>
#include <optional>
#include <vector>

namespace ucd {

// A caller's stream, and what works in it.
struct StreamTarget {
    Executor executor;
    NativeStream stream;
};

// Everything that can fail without a device comes first, by add(); then everything is started.
class Submission {
public:
    // Without a stream, each member is moved by an executor that reaches both of its sides, or
    // through chunks. With one, all are moved by its device. Context, hints and stream live as long
    // as the submission.
    Submission(Context &context, Direction direction, Op op, const Hints &hints,
               const StreamTarget *stream = nullptr);

    // True if one device moves all members whatever their addresses are, as the hints say. What is
    // wrong with a hint, add() says, of a member.
    bool all_alike(Dispatch &dispatch);

    // The same of a member, whose first bytes are there. The first one that is asked about decides
    // on the dispatch; of the others, true if they have the same one.
    bool is_alike(uintptr_t typed, uintptr_t packed, Dispatch &dispatch) {
        // Most members of a batch are in one allocation.
        if (alike_typed_.holds(reinterpret_cast<const void *>(typed)) &&
            alike_packed_.holds(reinterpret_cast<const void *>(packed))) [[likely]]
            return true;
        return is_alike_elsewhere(reinterpret_cast<const char *>(typed),
                                  reinterpret_cast<const char *>(packed), dispatch);
    }

    bool has_dispatch() const { return has_dispatch_; }

    void reserve(std::size_t members);
    // A member; those of length 0 need no work.
    Status add(const Transfer &t);

    // Starts what was added. `operation` stays null if everything was complete on return, and for
    // a stream, in whose order the work is. Members between two sides on the host run inside the
    // call; nothing waits for a device. A failure starts nothing.
    Status start(std::unique_ptr<AsyncOperation> &operation);

    // The same for a batch of the cache, whose members all_alike() or is_alike() hold for.
    Status start(const std::shared_ptr<CachedBatch> &batch,
                 std::unique_ptr<AsyncOperation> &operation);

    // The same for moves that all_alike() or is_alike() hold for, and that are not expected again.
    // They are made in the call. `types` are theirs.
    Status start(const Executor &executor, MoveMaker &moves, std::shared_ptr<KeptTypes> types,
                 std::unique_ptr<AsyncOperation> &operation);

    // For a call of one transfer, which needs nothing of the above if it is the host's.
    static Status start_one(Context &context, const Transfer &t, Direction direction, Op op,
                            const Hints &hints, std::unique_ptr<AsyncOperation> &operation);

private:
    // The moves of one executor are one launch.
    struct Launch {
        Executor executor;
        std::vector<Move> moves;
    };

    bool is_alike_elsewhere(const char *typed, const char *packed, Dispatch &dispatch);
    Status route_of(const Transfer &t, Route &route);
    Status route_by_lists(const MemoryLocation &typed, const MemoryLocation &packed,
                          const Type &type, Route &route);
    Status bring_lists(const Route &route, Transfer &t);
    Status start_after_lists(std::unique_ptr<AsyncOperation> &operation);
    Status check_direct(const Transfer &t, const Executor &executor) const;
    Status add(const Transfer &t, const Route &route);
    MoveSettings settings_of(const Route &route) const;
    Status add_on_host(const Transfer &t);
    Status add_launch(const Dispatch &dispatch, const Transfer &t);
    Status add_staged(const Transfer &t, const Route &route);
    Launch &launch_on(const Executor &executor);
    AsyncTransfer &work();

    // Streams.
    Status add_in_stream(const Transfer &t);
    Status find_stream_dispatch(const void *typed, const void *packed);
    Status check_reached(const LocationHint *hint, const void *address, const char *argument,
                         MemoryKind &kind);

    Context &context_;
    const Direction direction_;
    const Op op_;
    const Hints &hints_;
    const StreamTarget *const stream_;
    LocationCache locations_;
    std::vector<Launch> launches_;
    std::vector<Transfer> on_host_;
    std::unique_ptr<AsyncTransfer> work_; // made for the first member that a device moves
    std::shared_ptr<KeptTypes> types_;    // that work in a stream needs, if any
    std::unique_ptr<BroughtLists> lists_; // made for the first one that must be brought
    // Of a batch: where its last member is, once a dispatch is decided on.
    MemoryLocation alike_typed_, alike_packed_;
    bool has_dispatch_ = false;
    // Of streams: of the last member, or of all.
    Dispatch stream_dispatch_;
    bool all_reached_ = false;
};

} // namespace ucd
