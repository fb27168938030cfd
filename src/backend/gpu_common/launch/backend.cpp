// The backend of a GPU vendor.

#include "backend.h"

#include "kernels/reduce_kernels.h"
#include "launch/batch_launch.h"
#include "launch/copy_launch.h"
#include "launch/create_backend.h"
#include "launch/launch.h"
#include "launch/reduction.h"
#include "runtime/captures.h"
#include "runtime/check.h"
#include "runtime/shared_memory.h"

#include <algorithm>
#include <array>
#include <list>
#include <thread>

namespace ucd {
namespace UCD_GPU {
namespace {

// A launch under way. It has a stream of its own, or an event marks its end in a shared stream.
class LaunchEvent final : public Event {
public:
    explicit LaunchEvent(Device &device) : device_(device) {}
    ~LaunchEvent() override {
        if (own_ != nullptr) device_.give_back(own_);
        if (event_ != nullptr) device_.give_back(event_);
    }

    // The stream for the launch.
    Status choose_stream(gpuStream_t &stream) {
        own_ = device_.take_stream();
        stream = own_ != nullptr ? own_ : device_.shared_stream();
        return own_ != nullptr ? success : expect_mark();
    }
    // The launch will be in a stream that has other work.
    Status expect_mark() { return device_.take_event(event_); }

    // Once, after the launch.
    Status mark_end(gpuStream_t stream) {
        if (stream == own_) return success;
        return check(gpuEventRecord(event_, stream), "recording an event");
    }

    Status poll(bool &completed) override {
        const BesideCaptures beside;
        const gpuError_t state = event_ == nullptr ? gpuStreamQuery(own_) : gpuEventQuery(event_);
        completed = state == gpuSuccess;
        return state == gpuErrorNotReady ? success : check(state, "work on the device");
    }

    LaunchNeeds needs;

private:
    Device &device_;
    gpuStream_t own_ = nullptr;
    gpuEvent_t event_ = nullptr;
};

// What launches in callers' streams need, until they are done.
class Kept {
public:
    struct Item {
        std::shared_ptr<const void> what;
        std::unique_ptr<LaunchEvent> done; // destroyed first: it uses the lists of plans
    };
    // Items are allocated before their launch, so that add() cannot fail.
    using Items = std::list<Item>;

    void add(Items &items) noexcept {
        const std::lock_guard lock(mutex_);
        items_.splice(items_.end(), items);
    }

    // Checks the next few items, and frees those that are done. Whether any are left.
    bool sweep(std::size_t most = SIZE_MAX) {
        Items done; // destroyed outside the lock: freeing a type may take a while
        const std::lock_guard lock(mutex_);
        for (std::size_t left = std::min(most, items_.size()); left > 0; --left) {
            const auto next = items_.begin();
            bool completed = false;
            // A failure also shows in the stream, where its owner sees it. The work is over.
            const bool over = !next->done->poll(completed).ok() || completed;
            Items &to = over ? done : items_;
            to.splice(to.end(), items_, next);
        }
        return !items_.empty();
    }

private:
    std::mutex mutex_;
    Items items_;
};

// A launch that is being put into a caller's stream. Even if the call fails, what is in the stream
// by then needs its lists and tables until it is done.
class StreamLaunch {
public:
    StreamLaunch(Kept &kept, gpuStream_t stream, Kept::Items item)
        : kept_(kept), stream_(stream), item_(std::move(item)) {}
    ~StreamLaunch() {
        const LastError error = last_error();
        // Without the event, only waiting tells when it is done.
        if (!item_.front().done->mark_end(stream_).ok()) (void)gpuStreamSynchronize(stream_);
        kept_.add(item_);
        last_error() = error;
    }
    StreamLaunch(const StreamLaunch &) = delete;
    StreamLaunch &operator=(const StreamLaunch &) = delete;

private:
    Kept &kept_;
    const gpuStream_t stream_;
    Kept::Items item_;
};

// If a launch fails halfway, waits for what was started before: on return, the buffers are the
// caller's again.
class DrainUnlessDone {
public:
    explicit DrainUnlessDone(gpuStream_t stream) : stream_(stream) {}
    ~DrainUnlessDone() {
        if (!done_) (void)gpuStreamSynchronize(stream_);
    }
    DrainUnlessDone(const DrainUnlessDone &) = delete;
    DrainUnlessDone &operator=(const DrainUnlessDone &) = delete;
    void done() { done_ = true; }

private:
    const gpuStream_t stream_;
    bool done_ = false;
};

class GpuBackend final : public Backend {
public:
    ~GpuBackend() override {
        while (kept_.sweep()) std::this_thread::yield();
        for (const auto &device : devices_) {
            if (device == nullptr) continue;
            const driver::Current current(device->index());
            ListStore::instance().close(*device);
            BatchStore::instance().close(*device);
        }
    }

    const char *name() const override { return vendor_name; }

    BackendState probe() override { return driver::look(); }
    const BackendState &inspect() override { return driver::initialise(); }

    bool find(const void *address, MemoryLocation &place) const override {
        if (!driver::find(address, place)) return false;
        place.owner = this;
        return true;
    }

    bool reaches(int device, const MemoryLocation &place) const override {
        if (place.owner != this || place.kind == MemoryKind::host) return false;
        if (place.kind != MemoryKind::device || place.device == device) return true;
        return place.own_access ? driver::has_access(device, place) : is_peer(device, place.device);
    }

    bool supports(Op op, Element element) const override {
        return op == Op::replace || reduce_kernel(op, element) != nullptr;
    }

    Status plan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes,
                std::unique_ptr<Plan> &plan) const override {
        plan = std::make_unique<GpuPlan>(layout, extent, repeated, max_bytes);
        return success;
    }

    Status launch(int index, const JobList &list, std::unique_ptr<Event> &done) override {
        return start(index, done, [&](Device &device, gpuStream_t stream, LaunchEvent &event) {
            return launch_jobs({device, stream, LaunchMode::now, event.needs}, list);
        });
    }

    Status device_of(const NativeStream &native, int &device) override {
        const BesideCaptures beside;
        return driver::find_device(static_cast<gpuStream_t>(native.native), device);
    }

    Status launch_in(const NativeStream &native, const JobList &list,
                     std::shared_ptr<const void> keep) override {
        constexpr std::size_t few = 4; // more than one call adds, so that the list stays short
        (void)kept_.sweep(few);
        const driver::Current current(native.device);
        UCD_TRY(current.status);
        const BesideCaptures beside;
        Device *device;
        UCD_TRY(open(native.device, device));
        const auto stream = static_cast<gpuStream_t>(native.native);
        bool captured;
        UCD_TRY(is_captured(stream, captured));
        Kept::Items item;
        item.push_back({std::move(keep), std::make_unique<LaunchEvent>(*device)});
        LaunchEvent &event = *item.front().done;
        if (captured) return launch_jobs({*device, stream, LaunchMode::capture, event.needs}, list);
        UCD_TRY(event.expect_mark());
        const StreamLaunch launch(kept_, stream, std::move(item));
        return launch_jobs({*device, stream, LaunchMode::now, event.needs}, list);
    }

    Status prepare(const NativeStream &native, const Job &job) override {
        const driver::Current current(native.device);
        UCD_TRY(current.status);
        const BesideCaptures beside;
        Device *device;
        UCD_TRY(open(native.device, device));
        UCD_TRY(prepare_batches());
        if (job.op != Op::replace) return prepare_reduction(*device, job);
        return prepare_plan(*device, static_cast<const GpuPlan &>(*job.plan), job.count);
    }

    bool copies_layouts() const override { return true; }

    Status copy_layouts(int index, const CopyJob &job, std::unique_ptr<Event> &done) override {
        return start(index, done, [&](Device &device, gpuStream_t stream, LaunchEvent &event) {
            return launch_copy({device, stream, LaunchMode::now, event.needs}, job);
        });
    }

    Status copy(int index, void *to, const void *from, std::size_t bytes,
                std::unique_ptr<Event> &done) override {
        return start(index, done, [&](Device &, gpuStream_t stream, LaunchEvent &) {
            return check(gpuMemcpyAsync(to, from, bytes, gpuMemcpyDefault, stream), "copying");
        });
    }

    Status allocate(int index, MemoryKind kind, std::size_t bytes, void *&memory) override {
        const driver::Current current(index);
        UCD_TRY(current.status);
        if (kind == MemoryKind::pinned)
            return check(gpuHostAlloc(&memory, bytes, gpuHostAllocPortable),
                         "allocating pinned memory");
        return check(gpuMalloc(&memory, bytes), "allocating device memory");
    }

    void release(int index, MemoryKind kind, void *memory) override {
        const driver::Current current(index);
        // Failures are ignored: at exit, the driver may have been unloaded before.
        (void)(kind == MemoryKind::pinned ? gpuHostFree(memory) : gpuFree(memory));
    }

    Status export_memory(const void *address, std::size_t bytes, MemoryHandle &handle) override {
        MemoryLocation place;
        if (!find(address, place) || place.kind != MemoryKind::device)
            return fail(UCD_ERR__INVALID_ARG, "%p is not in memory of a device", address);
        const driver::Current current(place.device);
        UCD_TRY(current.status);
        return ucd::UCD_GPU::export_memory(address, bytes, handle);
    }

    Status open_memory(int index, const MemoryHandle &handle, std::size_t bytes,
                       void *&allocation) override {
        const driver::Current current(index);
        UCD_TRY(current.status);
        return ucd::UCD_GPU::open_memory(handle, bytes, allocation);
    }

    void close_memory(int index, void *allocation) override {
        const driver::Current current(index);
        // Failures are ignored: at exit, the driver may have been unloaded before.
        (void)gpuIpcCloseMemHandle(allocation);
    }

private:
    // The device, opened at its first use; it is current.
    Status open(int index, Device *&device) {
        auto &slot = opened_[static_cast<std::size_t>(index)];
        device = slot.load(std::memory_order_acquire);
        if (device != nullptr) [[likely]]
            return success;
        const std::lock_guard lock(mutex_);
        auto &owner = devices_[static_cast<std::size_t>(index)];
        if (owner == nullptr) UCD_TRY(Device::open(index, owner));
        device = owner.get();
        slot.store(device, std::memory_order_release);
        return success;
    }

    // Starts what body() puts into a stream.
    template <class Body>
    Status start(int index, std::unique_ptr<Event> &done, Body body) {
        const driver::Current current(index);
        UCD_TRY(current.status);
        const BesideCaptures beside;
        Device *device;
        UCD_TRY(open(index, device));
        auto event = std::make_unique<LaunchEvent>(*device);
        gpuStream_t stream;
        UCD_TRY(event->choose_stream(stream));
        DrainUnlessDone drain(stream); // destroyed before the event and what it keeps
        UCD_TRY(body(*device, stream, *event));
        UCD_TRY(event->mark_end(stream));
        drain.done();
        done = std::move(event);
        return success;
    }

    // Asked for each pair of devices once.
    bool is_peer(int device, int other) const {
        if (device < 0 || device >= max_devices || other < 0 || other >= max_devices) return false;
        auto &known = peers_[static_cast<std::size_t>(device)][static_cast<std::size_t>(other)];
        Peer peer = known.load(std::memory_order_relaxed);
        if (peer == Peer::unknown) {
            peer = enable_peer(device, other) ? Peer::yes : Peer::no;
            known.store(peer, std::memory_order_relaxed);
        }
        return peer == Peer::yes;
    }

    static bool enable_peer(int device, int other) {
        int can = 0;
        if (gpuDeviceCanAccessPeer(&can, device, other) != gpuSuccess || can == 0) return false;
        const driver::Current current(device);
        if (!current.status.ok()) return false;
        const gpuError_t error = gpuDeviceEnablePeerAccess(other, 0);
        if (error != gpuSuccess) (void)gpuGetLastError();
        return error == gpuSuccess || error == gpuErrorPeerAccessAlreadyEnabled;
    }

    enum class Peer : uint8_t { unknown, yes, no };
    mutable std::array<std::array<std::atomic<Peer>, max_devices>, max_devices> peers_ = {};
    std::mutex mutex_;
    std::array<std::unique_ptr<Device>, max_devices> devices_;
    std::array<std::atomic<Device *>, max_devices> opened_ = {};
    Kept kept_;
};

} // namespace

std::unique_ptr<Backend> create_backend() {
    return std::make_unique<GpuBackend>();
}

} // namespace UCD_GPU
} // namespace ucd
