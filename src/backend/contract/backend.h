// What a backend is to the frontend. A backend runs moves on the memory that it reaches; it knows
// layouts and addresses, and nothing of types, counts of calls, requests or hints.
//
// Thread safety: every function may be called by several threads at once, except that one Event and
// one native stream belong to one thread at a time.
#pragma once

#include "layout.h"
#include "memory.h"
#include "move.h"
#include "status.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ucd {

// A layout prepared for a backend: kernel, constants, tables. Immutable, so it is shared by
// threads. The layout that it was made from lives longer. The backend may not: types, and plans
// with them, may be freed after the last ucd_finalize, or be used again after another ucd_init.
class KernelPlan {
public:
    virtual ~KernelPlan() = default;
    virtual std::string describe() const = 0; // which kernel and why, one line
    virtual std::size_t memory() const = 0;   // bytes held
    // Whether the work of such a move needs the plan, or the move's elements, after its launch.
    virtual bool is_needed_by(const Move &) const { return true; }
};

// The completion of work that a backend has started.
class Event {
public:
    virtual ~Event() = default; // releases it; waits for nothing
    // Never waits. A failure of the work is reported here, and means that it is over.
    virtual Status poll(bool &completed) = 0;
};

// Moves that are launched again and again: their kernels are loaded, and what these read is in
// memory of the device, where it stays as long as this lives. It does not change, so that several
// launches of it may be under way. Plans and elements of its moves live longer; the backend, like
// that of a KernelPlan, may not.
class PreparedLaunch {
public:
    virtual ~PreparedLaunch() = default; // no launch of it is under way
};

struct BackendState {
    bool available = false;
    uint32_t devices = 0;
    std::string version;
    std::string reason; // why it is not available, a sentence; empty if it is
};

// A caller's stream, in the backend's own terms.
struct NativeStream {
    int device = 0;
    void *native = nullptr;
    void *context = nullptr;
};

// What another process needs to open memory of a device; only bytes, which may come from anyone.
struct MemoryHandle {
    unsigned char native[72] = {}; // of a whole allocation
    uint64_t offset = 0;           // into it
};

class Backend {
public:
    virtual ~Backend() = default;
    virtual const char *name() const = 0;

    // Finds out what is there, without initialising any driver for the process's own use. What
    // cannot be known that way, such as the number of devices, may be left open.
    virtual BackendState probe() = 0;

    // The same in full; may initialise the driver. Called when a user asks for the backend's state
    // or names a device. Later calls return the same state.
    virtual const BackendState &inspect() = 0;

    // A context of the driver's, as its own number, that the user's memory of a device belongs to.
    // Backends whose driver has one for all memory ignore it. INVALID_ARG: another one is in use.
    virtual Status use_context(uint64_t, int /*device*/) { return success; }

    // Fills `location`, which is the host's before, if `address` is in memory that this backend's
    // driver knows: then its owner is this. Must not initialise the driver: while the process has
    // not, no address is known. DEVICE: the driver fails, and the host cannot read the address.
    virtual Status find(const void *address, MemoryLocation &location) const = 0;

    // Whether its driver may have memory that find() does not know. Then check_unknown() is asked
    // about addresses that no backend knows: INVALID_ARG if there may be such memory, and the host
    // has none there.
    virtual bool hides_memory() const { return false; }
    virtual Status check_unknown(const void *) const { return success; }

    // Whether kernels on `device` can load from and store to `location`, which may be another
    // backend's.
    virtual bool reaches(int device, const MemoryLocation &location) const = 0;

    virtual bool supports(Op op, Element element) const = 0;

    // `extent` is the distance between repetitions; `repeated` tells whether moves have a count
    // above one (their layout is then one level deeper). A plan that needs more than `max_bytes`
    // of memory is left for one that needs as little as can be, and may be slower.
    virtual Status plan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes,
                        std::unique_ptr<KernelPlan> &plan) const = 0;

    // Starts the moves on `device`. Never waits for a device. `done` stays null if everything was
    // complete on return. Buffers live until completion, and so do plans that are needed by their
    // moves, and all plans of copies; `list` need not. A failure starts nothing.
    virtual Status launch(int device, const MoveList &list, std::unique_ptr<Event> &done) = 0;

    // The same for moves that are made in the call. A failure of the maker is the launch's. A
    // backend that gains nothing by making them one after the other leaves this as it is.
    virtual Status launch_made(int device, MoveMaker &maker, std::unique_ptr<Event> &done) {
        std::vector<Move> moves;
        UCD_TRY(make_all(maker, moves));
        return moves.empty() ? success : launch(device, moves, done);
    }

    // The device that a stream belongs to; of a default stream, the calling thread's current one.
    // Not every backend can tell: INVALID_ARG.
    virtual Status device_of(const NativeStream &, int &) {
        return fail(UCD_ERR__INVALID_ARG,
                    "stream.device is -1; backend %s does not tell a stream's device", name());
    }

    // As launch(), in the caller's stream, complete in that stream's order. `keep` is what plans
    // and elements need to live, null if no move needs any: the backend lets go of it, in any
    // thread of the library's, once it needs them no more. (Work captured into a graph keeps
    // nothing: there the type outlives the graph.)
    virtual Status launch_in(const NativeStream &stream, const MoveList &list,
                             std::shared_ptr<const void> keep) = 0;

    // The same for moves that are made in the call.
    virtual Status launch_made_in(const NativeStream &stream, MoveMaker &maker,
                                  std::shared_ptr<const void> keep) {
        std::vector<Move> moves;
        UCD_TRY(make_all(maker, moves));
        return moves.empty() ? success : launch_in(stream, moves, std::move(keep));
    }

    // Does everything for launches of the list that does not have to be done for each of them. May
    // wait for the device. The list need not live longer than the call.
    virtual Status prepare_launch(int device, const MoveList &list,
                                  std::unique_ptr<PreparedLaunch> &prepared) = 0;

    // As launch() and launch_in() of the list that it was prepared of, on its device, which is the
    // stream's. Buffers and `prepared` live until completion; in a stream, `keep` is what
    // `prepared` needs to live, itself included. Work that is captured into a graph keeps it, too:
    // until the graph is destroyed or, if the driver does not tell of that, as long as the backend.
    virtual Status launch(const PreparedLaunch &prepared, std::unique_ptr<Event> &done) = 0;
    virtual Status launch_in(const NativeStream &stream, const PreparedLaunch &prepared,
                             std::shared_ptr<const void> keep) = 0;

    // Does now whatever the first launch_in() of such a move would do before it starts: loads
    // kernels, uploads tables, which then stay as long as the plan. May wait for the device. The
    // move's buffers and range are not looked at.
    virtual Status prepare(const NativeStream &stream, const Move &move) = 0;

    // Whether lists may have copies from layout to layout. Where they may not, the frontend copies
    // in two steps.
    virtual bool copies_layouts() const { return false; }

    // Copies consecutive bytes between places that `device` reaches. Otherwise like launch().
    virtual Status copy(int device, void *to, const void *from, std::size_t bytes,
                        std::unique_ptr<Event> &done) = 0;

    // Staging memory, either pinned (reachable from host and device) or on the device. Slow: pooled
    // by the frontend. The host's backend is never asked.
    virtual Status allocate(int, MemoryKind, std::size_t, void *&) {
        return fail(UCD_ERR__NOT_SUPPORTED, "backend %s has no staging memory", name());
    }
    virtual void release(int, MemoryKind, void *) {}

    // Lets other processes open `bytes` at `address`, in one allocation of a device's memory. Not
    // every backend can, and not every allocation: NOT_SUPPORTED.
    virtual Status export_memory(const void *, std::size_t, MemoryHandle &) {
        return fail(UCD_ERR__NOT_SUPPORTED, "backend %s shares no memory", name());
    }
    // Makes it reachable by `device`; `allocation` is where it begins here. It has at least `bytes`
    // beyond the handle's offset, or this fails.
    virtual Status open_memory(int, const MemoryHandle &, std::size_t, void *&) {
        return fail(UCD_ERR__NOT_SUPPORTED, "backend %s shares no memory", name());
    }
    virtual void close_memory(int /*device*/, void * /*allocation*/) {}
};

} // namespace ucd
