// The interface between the frontend and a backend. A backend performs moves on the memory that its
// devices can access. It knows layouts and addresses, but no types, counts of calls, requests or
// hints.
//
// Thread safety: several threads may call any function at once, but one Event or one native stream
// is used by one thread at a time.
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

// A layout prepared for a backend: kernel, constants, tables. Threads share it, so it is immutable.
// The layout that it was made from outlives it. The backend may not: types, and their plans with
// them, may be freed after the last ucd_finalize, or be used again after another ucd_init.
class KernelPlan {
public:
    virtual ~KernelPlan() = default;
    virtual std::string describe() const = 0; // one line: the kernel, and why it was chosen
    virtual std::size_t memory() const = 0;   // in bytes
    // Whether the work of such a move still needs the plan, or the move's elements, after the
    // launch.
    virtual bool is_needed_by(const Move &) const { return true; }
};

// The completion of work that a backend has started.
class Event {
public:
    virtual ~Event() = default; // releases the event without waiting
    // Never blocks. If the work has failed, this returns the failure, and the work is over.
    virtual Status poll(bool &completed) = 0;
};

// Moves prepared for repeated launches: their kernels are loaded, and the data that these read
// stays in device memory as long as this object lives. The object is immutable, so several launches
// of it may be in progress at once. The plans and elements of its moves outlive it; the backend may
// not, as with KernelPlan.
class PreparedLaunch {
public:
    virtual ~PreparedLaunch() = default; // no launch of it is in progress
};

struct BackendState {
    bool available = false;
    uint32_t devices = 0;
    std::string version;
    std::string reason; // a sentence that says why it is not available; empty if it is
};

// A caller's stream, in the terms of the backend.
struct NativeStream {
    int device = 0;
    void *native = nullptr;
    void *context = nullptr;
};

// What another process needs to open memory of a device. The bytes are untrusted.
struct MemoryHandle {
    unsigned char native[72] = {}; // identifies a whole allocation
    uint64_t offset = 0;           // from the beginning of the allocation
};

class Backend {
public:
    virtual ~Backend() = default;
    virtual const char *name() const = 0;

    // Finds out what is available, without initialising a driver on behalf of the process. What
    // cannot be found out in this way, such as the number of devices, may be left open.
    virtual BackendState probe() = 0;

    // Same, but finds out everything, and may initialise the driver. Called when a user asks for
    // the backend's state or names a device. Later calls return the same state.
    virtual const BackendState &inspect() = 0;

    // Sets the driver's context, as a number, in which the user's memory of a device is found.
    // Backends whose driver has one context for all memory ignore it. INVALID_ARG: another context
    // is in use.
    virtual Status use_context(uint64_t, int /*device*/) { return success; }

    // If this backend's driver knows the memory at `address`, sets `location`, which describes host
    // memory before the call; its owner is then this backend. Must not initialise the driver: as
    // long as the process has not done so, no address is known. DEVICE: the driver fails, and the
    // host cannot read the address.
    virtual Status find(const void *address, MemoryLocation &location) const = 0;

    // Whether the driver may have memory that find() does not know. The frontend then calls
    // check_unknown() for addresses that no backend knows. It returns INVALID_ARG if there may be
    // such memory and there is no host memory at the address.
    virtual bool hides_memory() const { return false; }
    virtual Status check_unknown(const void *) const { return success; }

    // Whether kernels on `device` can load from and store to `location`, which may belong to
    // another backend.
    virtual bool reaches(int device, const MemoryLocation &location) const = 0;

    virtual bool supports(Op op, Element element) const = 0;

    // `extent` is the distance between repetitions. `repeated` says whether moves have a count
    // above 1, which makes their layout one level deeper. If a plan would need more than
    // `max_bytes` of memory, a plan with as little memory as possible is made instead, which may be
    // slower.
    virtual Status plan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes,
                        std::unique_ptr<KernelPlan> &plan) const = 0;

    // Starts the moves on `device`. Never waits for a device. If all moves were complete on return,
    // `done` stays null. Until completion, the caller keeps the buffers, the plans that are needed
    // by their moves, and all plans of copies; but not `list`. If it fails, nothing was started.
    virtual Status launch(int device, const MoveList &list, std::unique_ptr<Event> &done) = 0;

    // Same, for moves that are made during the call. A failure of the maker is returned. The
    // default serves backends for which making the moves in portions has no advantage.
    virtual Status launch_made(int device, MoveMaker &maker, std::unique_ptr<Event> &done) {
        std::vector<Move> moves;
        UCD_TRY(make_all(maker, moves));
        return moves.empty() ? success : launch(device, moves, done);
    }

    // Finds the device that a stream belongs to; for a default stream, the current device of the
    // calling thread. INVALID_ARG: this backend cannot tell.
    virtual Status device_of(const NativeStream &, int &) {
        return fail(UCD_ERR__INVALID_ARG,
                    "stream.device is -1; backend %s does not tell a stream's device", name());
    }

    // Same as launch(), but in the caller's stream; the moves complete in its order. `keep` keeps
    // plans and elements alive, and is null if no move needs them. The backend releases it, in any
    // thread of the library, when they are no longer needed. (Work captured into a graph keeps
    // nothing: the user has to keep the type as long as the graph.)
    virtual Status launch_in(const NativeStream &stream, const MoveList &list,
                             std::shared_ptr<const void> keep) = 0;

    // Same, for moves that are made during the call.
    virtual Status launch_made_in(const NativeStream &stream, MoveMaker &maker,
                                  std::shared_ptr<const void> keep) {
        std::vector<Move> moves;
        UCD_TRY(make_all(maker, moves));
        return moves.empty() ? success : launch_in(stream, moves, std::move(keep));
    }

    // Does all work for launches of the list that need not be repeated for each launch. May wait
    // for the device. The list is not needed after the call.
    virtual Status prepare_launch(int device, const MoveList &list,
                                  std::unique_ptr<PreparedLaunch> &prepared) = 0;

    // Same as launch() and launch_in() with the list that was prepared, on its device, which must
    // be the stream's. Buffers and `prepared` live until completion. In a stream, `keep` keeps
    // `prepared` and everything that it needs alive. Work captured into a graph holds `keep`, too:
    // until the graph is destroyed or, if the driver does not report that, as long as the backend
    // lives.
    virtual Status launch(const PreparedLaunch &prepared, std::unique_ptr<Event> &done) = 0;
    virtual Status launch_in(const NativeStream &stream, const PreparedLaunch &prepared,
                             std::shared_ptr<const void> keep) = 0;

    // Does what the first launch_in() of such a move would do before it starts: it loads kernels
    // and uploads tables, which stay as long as the plan. May wait for the device. Ignores the
    // move's buffers and range.
    virtual Status prepare(const NativeStream &stream, const Move &move) = 0;

    // Whether lists may contain copies from layout to layout. If not, the frontend copies in two
    // steps.
    virtual bool copies_layouts() const { return false; }

    // Copies consecutive bytes. `device` can access both addresses. Otherwise same as launch().
    virtual Status copy(int device, void *to, const void *from, std::size_t bytes,
                        std::unique_ptr<Event> &done) = 0;

    // Allocates staging memory: pinned memory, which host and device can access, or memory of the
    // device. This is slow, so the frontend pools the memory. Not called for the host's backend.
    virtual Status allocate(int, MemoryKind, std::size_t, void *&) {
        return fail(UCD_ERR__NOT_SUPPORTED, "backend %s has no staging memory", name());
    }
    virtual void release(int, MemoryKind, void *) {}

    // Lets other processes open `bytes` at `address`, which are part of one allocation of device
    // memory. NOT_SUPPORTED if the backend or this allocation does not allow it.
    virtual Status export_memory(const void *, std::size_t, MemoryHandle &) {
        return fail(UCD_ERR__NOT_SUPPORTED, "backend %s shares no memory", name());
    }
    // Makes the memory accessible to `device` and sets `allocation` to its first byte. Fails unless
    // it has at least `bytes` behind the handle's offset.
    virtual Status open_memory(int, const MemoryHandle &, std::size_t, void *&) {
        return fail(UCD_ERR__NOT_SUPPORTED, "backend %s shares no memory", name());
    }
    virtual void close_memory(int /*device*/, void * /*allocation*/) {}
};

} // namespace ucd
