// The interface between the frontend and a backend. A backend performs moves on the memory that its
// devices can access. It knows layouts and addresses, but no types, counts of calls, requests or
// hints.
//
// Thread safety: several threads may call any function at once, but one Event or one native stream
// is used by one thread at a time.
//
// Tables of functions: a backend may be a plugin, which another compiler has built with another C++
// library. Everything that crosses the boundary is therefore plain data: structs of standard
// layout, and objects whose first member points to a table of functions. A function of a table
// never throws. If it returns an int, that is UCD_SUCCESS or the code of a failure, whose message
// is in last_error(). An object is freed by its own table's `destroy`. The classes below call these
// functions, and compile in the caller; implement.h makes the tables of a class that implements
// such an object. plugin.h says how a plugin is opened.
#pragma once

#include "fixed_text.h"
#include "keep.h"
#include "layout.h"
#include "memory.h"
#include "move.h"
#include "status.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

struct ucd_device_plan; // ucd_device.h

namespace ucd {

struct Destroy {
    template <class T>
    void operator()(T *object) const {
        object->destroy();
    }
};

// Owns an object of the frontend's or the backend's side.
template <class T>
using Owner = std::unique_ptr<T, Destroy>;

// ---- plans --------------------------------------------------------------------------------------

class KernelPlan;

struct KernelPlanFunctions {
    uint32_t struct_size;
    void (*destroy)(const KernelPlan *);
    // Writes at most `room` bytes, the last of them 0. `length` is that of the whole text.
    int (*describe)(const KernelPlan *, char *text, std::size_t room, std::size_t *length);
    std::size_t (*memory)(const KernelPlan *);
    bool (*is_needed_by)(const KernelPlan *, const Move *);
};

// A layout prepared for a backend: kernel, constants, tables. Threads share it, so it is immutable.
// The layout that it was made from outlives it. The backend may not: types, and their plans with
// them, may be freed after the last ucd_finalize, or be used again after another ucd_init.
class KernelPlan {
public:
    void destroy() const { functions_->destroy(this); }
    // One line: the kernel, and why it was chosen.
    std::string describe() const {
        std::string text(256, '\0');
        std::size_t length = 0;
        if (functions_->describe(this, text.data(), text.size(), &length) != UCD_SUCCESS)
            return last_error().text;
        if (length >= text.size()) {
            text.resize(length + 1);
            (void)functions_->describe(this, text.data(), text.size(), &length);
        }
        text.resize(std::strlen(text.c_str()));
        return text;
    }
    // In bytes.
    std::size_t memory() const { return functions_->memory(this); }
    // Whether the work of such a move still needs the plan, or the move's elements, after the
    // launch.
    bool is_needed_by(const Move &move) const { return functions_->is_needed_by(this, &move); }

    KernelPlan(const KernelPlan &) = delete;
    KernelPlan &operator=(const KernelPlan &) = delete;

protected:
    explicit KernelPlan(const KernelPlanFunctions &functions) : functions_(&functions) {}
    ~KernelPlan() = default;

private:
    const KernelPlanFunctions *functions_;
};

// ---- events -------------------------------------------------------------------------------------

class Event;

struct EventFunctions {
    uint32_t struct_size;
    void (*destroy)(Event *);
    int (*poll)(Event *, bool *completed);
};

// The completion of work that a backend has started.
class Event {
public:
    void destroy() { functions_->destroy(this); } // releases the event without waiting
    // Never blocks. If the work has failed, this returns the failure, and the work is over.
    Status poll(bool &completed) { return Status(functions_->poll(this, &completed)); }

    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;

protected:
    explicit Event(const EventFunctions &functions) : functions_(&functions) {}
    ~Event() = default;

private:
    const EventFunctions *functions_;
};

// ---- prepared launches --------------------------------------------------------------------------

class PreparedLaunch;

struct PreparedLaunchFunctions {
    uint32_t struct_size;
    void (*destroy)(const PreparedLaunch *);
};

// Moves prepared for repeated launches: their kernels are loaded, and the data that these read
// stays in device memory as long as this object lives. The object is immutable, so several launches
// of it may be in progress at once. The plans and elements of its moves outlive it; the backend may
// not, as with KernelPlan.
class PreparedLaunch {
public:
    void destroy() const { functions_->destroy(this); } // no launch of it is in progress

    PreparedLaunch(const PreparedLaunch &) = delete;
    PreparedLaunch &operator=(const PreparedLaunch &) = delete;

protected:
    explicit PreparedLaunch(const PreparedLaunchFunctions &functions) : functions_(&functions) {}
    ~PreparedLaunch() = default;

private:
    const PreparedLaunchFunctions *functions_;
};

// ---- backends -----------------------------------------------------------------------------------

struct BackendState {
    bool available = false;
    uint32_t devices = 0;
    FixedText<32> version;
    FixedText<512> reason; // a sentence that says why it is not available; empty if it is
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

// Whether the bytes of an array from one on are 0. Bytes of handles that have no meaning must be,
// so that a later version can give them one.
template <class Byte, std::size_t N>
bool is_zero_from(const Byte (&bytes)[N], std::size_t first) {
    for (std::size_t i = first; i < N; ++i)
        if (bytes[i] != 0) return false;
    return true;
}

// The most file descriptors of a range.
inline constexpr std::size_t max_fds = 253;

// Same, for memory that is identified by file descriptors, which are passed beside the handle.
struct FdHandle {
    // Not 0. In the process that exported the memory: equal only if it is the same memory.
    uint64_t identity = 0;
    uint64_t offset = 0; // from the beginning of what the descriptors identify
    unsigned char native[64] = {};
};

struct BackendFunctions {
    uint32_t struct_size;
    void (*destroy)(Backend *);
    const char *(*name)(const Backend *);
    int (*probe)(Backend *, BackendState *state);
    int (*inspect)(Backend *, const BackendState **state);
    int (*use_context)(Backend *, uint64_t context, int device);
    int (*find)(const Backend *, const void *address, MemoryLocation *location);
    bool (*hides_memory)(const Backend *);
    int (*check_unknown)(const Backend *, const void *address);
    bool (*reaches)(const Backend *, int device, const MemoryLocation *location);
    bool (*supports)(const Backend *, Op op, Element element);
    int (*plan)(const Backend *, const Layout *layout, int64_t extent, bool repeated,
                uint64_t max_bytes, KernelPlan **plan);
    int (*launch)(Backend *, int device, const MoveList *list, Event **done);
    int (*launch_made)(Backend *, int device, MoveMaker *maker, Event **done);
    int (*device_of)(Backend *, const NativeStream *stream, int *device);
    int (*launch_in)(Backend *, const NativeStream *stream, const MoveList *list, KeptObject *keep);
    int (*launch_made_in)(Backend *, const NativeStream *stream, MoveMaker *maker,
                          KeptObject *keep);
    int (*prepare_launch)(Backend *, int device, const MoveList *list, PreparedLaunch **prepared);
    int (*launch_prepared)(Backend *, const PreparedLaunch *prepared, Event **done);
    int (*launch_prepared_in)(Backend *, const NativeStream *stream, const PreparedLaunch *prepared,
                              KeptObject *keep);
    int (*prepare)(Backend *, const NativeStream *stream, const Move *move);
    bool (*takes)(const Backend *, const Move *move);
    int (*copy)(Backend *, int device, void *to, const void *from, std::size_t bytes, Event **done);
    int (*allocate)(Backend *, int device, MemoryKind kind, std::size_t bytes, void **memory);
    void (*release)(Backend *, int device, MemoryKind kind, void *memory);
    int (*export_memory)(Backend *, const void *address, std::size_t bytes, MemoryHandle *handle);
    int (*open_memory)(Backend *, int device, const MemoryHandle *handle, std::size_t bytes,
                       void **allocation);
    int (*export_fds)(Backend *, const void *address, std::size_t bytes, FdHandle *handle, int *fds,
                      std::size_t room, std::size_t *count);
    int (*open_fds)(Backend *, int device, const FdHandle *handle, std::size_t bytes,
                    const int *fds, std::size_t count, void **allocation);
    void (*close_memory)(Backend *, int device, void *allocation);
    int (*device_plan)(Backend *, int device, const Layout *layout, int64_t extent, uint64_t count,
                       uint64_t max_bytes, ucd_device_plan *plan);
};

class Backend {
public:
    void destroy() { functions_->destroy(this); }
    const char *name() const { return functions_->name(this); }
    // The table of the functions below.
    const BackendFunctions &functions() const { return *functions_; }

    // Finds out what is available, without initialising a driver on behalf of the process. What
    // cannot be found out in this way, such as the number of devices, may be left open.
    Status probe(BackendState &state) { return Status(functions_->probe(this, &state)); }

    // Same, but finds out everything, and may initialise the driver. Called when a user asks for
    // the backend's state or names a device. Later calls return the same state, which lives as long
    // as the backend.
    Status inspect(const BackendState *&state) { return Status(functions_->inspect(this, &state)); }

    // Sets the driver's context, as a number, in which the user's memory of a device is found.
    // Backends whose driver has one context for all memory ignore it. INVALID_ARG: another context
    // is in use.
    Status use_context(uint64_t context, int device) {
        return Status(functions_->use_context(this, context, device));
    }

    // If this backend's driver knows the memory at `address`, sets `location`, which describes host
    // memory before the call; its owner is then this backend. Must not initialise the driver: as
    // long as the process has not done so, no address is known. DEVICE: the driver fails, and the
    // host cannot read the address.
    Status find(const void *address, MemoryLocation &location) const {
        return Status(functions_->find(this, address, &location));
    }

    // Whether the driver may have memory that find() does not know. The frontend then calls
    // check_unknown() for addresses that no backend knows. It returns INVALID_ARG if there may be
    // such memory and there is no host memory at the address.
    bool hides_memory() const { return functions_->hides_memory(this); }
    Status check_unknown(const void *address) const {
        return Status(functions_->check_unknown(this, address));
    }

    // Whether kernels on `device` can load from and store to `location`, which may belong to
    // another backend.
    bool reaches(int device, const MemoryLocation &location) const {
        return functions_->reaches(this, device, &location);
    }

    bool supports(Op op, Element element) const { return functions_->supports(this, op, element); }

    // `extent` is the distance between repetitions. `repeated` says whether moves have a count
    // above 1, which makes their layout one level deeper. If a plan would need more than
    // `max_bytes` of memory, a plan with as little memory as possible is made instead, which may be
    // slower.
    Status plan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes,
                Owner<KernelPlan> &plan) const {
        KernelPlan *made = nullptr;
        UCD_TRY(Status(functions_->plan(this, &layout, extent, repeated, max_bytes, &made)));
        plan.reset(made);
        return success;
    }

    // Starts the moves on `device`. Never waits for a device. If all moves were complete on return,
    // `done` stays null. Until completion, the caller keeps the buffers, the plans that are needed
    // by their moves, and all plans of copies; but not `list`. If it fails, nothing was started.
    // Inlined, because it is on the path of every small call.
    [[gnu::always_inline]] Status launch(int device, const MoveList &list, Owner<Event> &done) {
        return started(
            done, [&](Event **event) { return functions_->launch(this, device, &list, event); });
    }

    // Same, for moves that are made during the call. A failure of the maker is returned.
    Status launch_made(int device, MoveMaker &maker, Owner<Event> &done) {
        return started(done, [&](Event **event) {
            return functions_->launch_made(this, device, &maker, event);
        });
    }

    // Finds the device that a stream belongs to; for a default stream, the current device of the
    // calling thread. INVALID_ARG: this backend cannot tell.
    Status device_of(const NativeStream &stream, int &device) {
        return Status(functions_->device_of(this, &stream, &device));
    }

    // Same as launch(), but in the caller's stream; the moves complete in its order. `keep` keeps
    // plans and elements alive, and is null if no move needs them. The backend releases it, in any
    // thread of the library, when they are no longer needed. (Work captured into a graph keeps
    // nothing: the user has to keep the type as long as the graph.)
    Status launch_in(const NativeStream &stream, const MoveList &list, const Keep &keep) {
        return Status(functions_->launch_in(this, &stream, &list, keep.get()));
    }

    // Same, for moves that are made during the call.
    Status launch_made_in(const NativeStream &stream, MoveMaker &maker, const Keep &keep) {
        return Status(functions_->launch_made_in(this, &stream, &maker, keep.get()));
    }

    // Does all work for launches of the list that need not be repeated for each launch. May wait
    // for the device. The list is not needed after the call.
    Status prepare_launch(int device, const MoveList &list, Owner<PreparedLaunch> &prepared) {
        PreparedLaunch *made = nullptr;
        UCD_TRY(Status(functions_->prepare_launch(this, device, &list, &made)));
        prepared.reset(made);
        return success;
    }

    // Same as launch() and launch_in() with the list that was prepared, on its device, which must
    // be the stream's. Buffers and `prepared` live until completion. In a stream, `keep` keeps
    // `prepared` and everything that it needs alive. Work captured into a graph holds `keep`, too:
    // until the graph is destroyed or, if the driver does not report that, as long as the backend
    // lives.
    Status launch(const PreparedLaunch &prepared, Owner<Event> &done) {
        return started(done, [&](Event **event) {
            return functions_->launch_prepared(this, &prepared, event);
        });
    }
    Status launch_in(const NativeStream &stream, const PreparedLaunch &prepared, const Keep &keep) {
        return Status(functions_->launch_prepared_in(this, &stream, &prepared, keep.get()));
    }

    // Does what the first launch_in() of such a move would do before it starts: it loads kernels
    // and uploads tables, which stay as long as the plan. May wait for the device. Ignores the
    // move's buffers and range.
    Status prepare(const NativeStream &stream, const Move &move) {
        return Status(functions_->prepare(this, &stream, &move));
    }

    // Whether a list may contain this copy or conversion. If not, the frontend moves in steps.
    // Every backend that supports conversions takes those between packed bytes.
    bool takes(const Move &move) const { return functions_->takes(this, &move); }

    // Copies consecutive bytes. `device` can access both addresses. Otherwise same as launch().
    Status copy(int device, void *to, const void *from, std::size_t bytes, Owner<Event> &done) {
        return started(done, [&](Event **event) {
            return functions_->copy(this, device, to, from, bytes, event);
        });
    }

    // Allocates staging memory: pinned memory, which host and device can access, or memory of the
    // device. This is slow, so the frontend pools the memory. Not called for the host's backend.
    Status allocate(int device, MemoryKind kind, std::size_t bytes, void *&memory) {
        return Status(functions_->allocate(this, device, kind, bytes, &memory));
    }
    void release(int device, MemoryKind kind, void *memory) {
        functions_->release(this, device, kind, memory);
    }

    // Lets other processes open `bytes` at `address`, which are part of one allocation of device
    // memory. NOT_SUPPORTED if the backend or this allocation does not allow it.
    Status export_memory(const void *address, std::size_t bytes, MemoryHandle &handle) {
        return Status(functions_->export_memory(this, address, bytes, &handle));
    }
    // Makes the memory accessible to `device` and sets `allocation` to its first byte. Fails unless
    // it has at least `bytes` behind the handle's offset.
    Status open_memory(int device, const MemoryHandle &handle, std::size_t bytes,
                       void *&allocation) {
        return Status(functions_->open_memory(this, device, &handle, bytes, &allocation));
    }

    // Same, for device memory that processes share by file descriptors. Sets `count` to the number
    // of these; it is 0, and nothing else is set, for memory that export_memory() shares. If `fds`
    // is not null, makes descriptors, which the caller closes; INVALID_ARG if there is no room for
    // all. The range may consist of several mapped pieces of memory, one behind the other.
    // NOT_SUPPORTED if this memory cannot be shared.
    Status export_fds(const void *address, std::size_t bytes, FdHandle &handle, int *fds,
                      std::size_t room, std::size_t &count) {
        return Status(functions_->export_fds(this, address, bytes, &handle, fds, room, &count));
    }
    // The descriptors are untrusted as well, and remain the caller's. What is opened holds
    // references of its own to the memory, as far as the driver has them.
    Status open_fds(int device, const FdHandle &handle, std::size_t bytes, const int *fds,
                    std::size_t count, void *&allocation) {
        return Status(functions_->open_fds(this, device, &handle, bytes, fds, count, &allocation));
    }

    // Makes a plan for code on the device, of `count` repetitions of the layout that are `extent`
    // bytes apart. Lists that the plan needs are in memory of the device, which release() frees, at
    // plan.memory; they take at most `max_bytes` if that can be done. May wait for the device.
    // NOT_SUPPORTED: no code for this backend's devices reads such plans.
    Status device_plan(int device, const Layout &layout, int64_t extent, uint64_t count,
                       uint64_t max_bytes, ucd_device_plan &plan) {
        return Status(
            functions_->device_plan(this, device, &layout, extent, count, max_bytes, &plan));
    }

    // For both ways of opening.
    void close_memory(int device, void *allocation) {
        functions_->close_memory(this, device, allocation);
    }

    Backend(const Backend &) = delete;
    Backend &operator=(const Backend &) = delete;

protected:
    explicit Backend(const BackendFunctions &functions) : functions_(&functions) {}
    ~Backend() = default;

private:
    // Calls a function that sets an event if work is outstanding on its return.
    template <class Start>
    [[gnu::always_inline]] static Status started(Owner<Event> &done, Start start) {
        Event *event = nullptr;
        const Status status(start(&event));
        if (event != nullptr) done.reset(event);
        return status;
    }

    const BackendFunctions *functions_;
};

} // namespace ucd
