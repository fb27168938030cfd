// The backend of a GPU vendor.

#include "backend.h"
#include "per_thread.h"

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

// A launch under way in a lane.
class LaneEvent final : public Event {
public:
    Status poll(bool &completed) override {
        const Status status = lane_->poll(number_, completed);
        // It may have been the upload of a table that failed.
        if (!status.ok())
            for (const BatchUse &table : needs.batches) BatchStore::instance().forget(table);
        return status;
    }
    void end(LaunchTurn &turn) {
        lane_ = &turn.lane();
        number_ = turn.end();
    }

    LaunchNeeds needs;

private:
    Lane *lane_ = nullptr;
    uint64_t number_ = 0;
};

// What launches in callers' streams need, until they are done; of one thread.
class Kept {
public:
    struct Item {
        std::shared_ptr<const void> what;
        LaunchNeeds needs; // destroyed before `what`: they are lists of plans
        PooledEvent done;
    };
    // Items are allocated before their launch, so that add() cannot fail.
    using Items = std::list<Item>;

    void add(Items &items) noexcept {
        const std::lock_guard lock(mutex_);
        items_.splice(items_.end(), items);
    }

    // Checks the next few items, up to the first that is not done, and frees those that are. The
    // next time begins with another one: one stream must not hold up what others have. Whether any
    // are left.
    bool sweep(std::size_t most) {
        Items done; // destroyed outside the lock: freeing a type may take a while
        const std::lock_guard lock(mutex_);
        for (std::size_t left = std::min(most, items_.size()); left > 0; --left) {
            const auto next = items_.begin();
            // A failure also shows in the stream, where its owner sees it. The work is over.
            if (gpuEventQuery(next->done.get()) == gpuErrorNotReady) {
                items_.splice(items_.end(), items_, next);
                break;
            }
            done.splice(done.end(), items_, next);
        }
        return !items_.empty();
    }

    // Now and then a thread sweeps another's: that one may have ended.
    bool is_time_for_others(std::size_t &part) {
        constexpr std::size_t often = 64;
        const std::size_t call = calls_.fetch_add(1, std::memory_order_relaxed);
        part = call / often % thread_parts;
        return call % often == 0;
    }

private:
    std::mutex mutex_;
    Items items_;
    std::atomic<std::size_t> calls_{1};
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
        if (!check(gpuEventRecord(item_.front().done.get(), stream_), "recording an event").ok())
            (void)gpuStreamSynchronize(stream_);
        kept_.add(item_);
        last_error() = error;
    }
    StreamLaunch(const StreamLaunch &) = delete;
    StreamLaunch &operator=(const StreamLaunch &) = delete;
    LaunchNeeds &needs() { return item_.front().needs; }

private:
    Kept &kept_;
    const gpuStream_t stream_;
    Kept::Items item_;
};

// If a launch fails halfway, waits for what was started before: on return, the buffers are the
// caller's again.
class DrainUnlessDone {
public:
    DrainUnlessDone(gpuStream_t stream, const LaunchNeeds &needs)
        : stream_(stream), needs_(needs) {}
    ~DrainUnlessDone() {
        if (!done_ && !needs_.nothing_started) (void)gpuStreamSynchronize(stream_);
    }
    DrainUnlessDone(const DrainUnlessDone &) = delete;
    DrainUnlessDone &operator=(const DrainUnlessDone &) = delete;
    void done() { done_ = true; }

private:
    const gpuStream_t stream_;
    const LaunchNeeds &needs_;
    bool done_ = false;
};

constexpr uint64_t large_launch = uint64_t{1} << 20;

class GpuBackend final : public Backend {
public:
    ~GpuBackend() override {
        kept_.for_each([](Kept &kept) {
            while (kept.sweep(1)) std::this_thread::yield();
        });
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

    Status use_context(uint64_t context, int device) override {
        return driver::use_context(context, device);
    }

    Status find(const void *address, MemoryLocation &place) const override {
        UCD_TRY(driver::find(address, place));
        if (place.kind != MemoryKind::host) place.owner = this;
        return success;
    }

    bool hides_memory() const override { return has_contexts; }
    Status check_unknown(const void *address) const override {
        return driver::check_unknown(address);
    }

    bool reaches(int device, const MemoryLocation &place) const override {
        if (place.owner != this || place.kind == MemoryKind::host) return false;
        if (place.device == device) return true;
        if (place.kind != MemoryKind::device) return driver::shares_host_memory(device, place);
        return place.own_access ? driver::has_access(device, place) : is_peer(device, place.device);
    }

    bool supports(Op op, Element element) const override {
        return op == Op::replace ||
               (reduce_kernel(op, element) != nullptr && driver::has_element(element));
    }

    Status plan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes,
                std::unique_ptr<KernelPlan> &plan) const override {
        plan = std::make_unique<GpuPlan>(layout, extent, repeated, max_bytes);
        return success;
    }

    Status launch(int index, const MoveList &list, std::unique_ptr<Event> &done) override {
        // Of many moves, about: more than a lane puts behind one mark.
        const uint64_t bytes = list.moves.size() == 1 ? list.moves.front().length : large_launch;
        return start(index, bytes, done,
                     [&](Device &device, gpuStream_t stream, LaunchNeeds &needs) {
                         return launch_moves({device, stream, LaunchMode::now, needs}, list);
                     });
    }

    Status device_of(const NativeStream &native, int &device) override {
        const BesideCaptures beside;
        return driver::find_device(static_cast<gpuStream_t>(native.native), device);
    }

    Status launch_in(const NativeStream &native, const MoveList &list,
                     std::shared_ptr<const void> keep) override {
        const driver::Current current(native.device);
        UCD_TRY(current.status);
        const BesideCaptures beside;
        Device *device;
        UCD_TRY(open(native.device, device));
        gpuStream_t stream;
        UCD_TRY(driver::enter(native, stream));
        bool captured;
        UCD_TRY(is_captured(stream, captured));
        const auto mode = captured ? LaunchMode::capture : LaunchMode::now;
        const bool needs_nothing = keep == nullptr && list.moves.size() == 1; // not even a table
        if (captured || needs_nothing) {
            LaunchNeeds needs; // what a graph has prepared stays anyway
            return launch_moves({*device, stream, mode, needs}, list);
        }
        Kept &kept = sweep_kept();
        Kept::Items item;
        item.emplace_back().what = std::move(keep);
        UCD_TRY(device->take_event(item.front().done));
        StreamLaunch launch(kept, stream, std::move(item));
        return launch_moves({*device, stream, mode, launch.needs()}, list);
    }

    Status prepare(const NativeStream &native, const Move &move) override {
        const driver::Current current(native.device);
        UCD_TRY(current.status);
        const BesideCaptures beside;
        Device *device;
        UCD_TRY(open(native.device, device));
        UCD_TRY(prepare_batches());
        if (move.op != Op::replace) return prepare_reduction(*device, move);
        return prepare_plan(*device, static_cast<const GpuPlan &>(*move.plan), move.count);
    }

    bool copies_layouts() const override { return true; }

    Status copy_layouts(int index, const CopyMove &move, std::unique_ptr<Event> &done) override {
        return start(index, move.length, done,
                     [&](Device &device, gpuStream_t stream, LaunchNeeds &needs) {
                         return launch_copy({device, stream, LaunchMode::now, needs}, move);
                     });
    }

    Status copy(int index, void *to, const void *from, std::size_t bytes,
                std::unique_ptr<Event> &done) override {
        return start(index, bytes, done, [&](Device &, gpuStream_t stream, LaunchNeeds &) {
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
        UCD_TRY(find(address, place));
        if (place.kind != MemoryKind::device)
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
    Status start(int index, uint64_t bytes, std::unique_ptr<Event> &done, Body body) {
        const driver::Current current(index);
        UCD_TRY(current.status);
        const BesideCaptures beside;
        Device *device;
        UCD_TRY(open(index, device));
        auto event = std::make_unique<LaneEvent>();
        LaunchTurn turn;
        UCD_TRY(device->begin_launch(bytes, turn));
        // Destroyed before the event and what it keeps.
        DrainUnlessDone drain(turn.stream(), event->needs);
        UCD_TRY(body(*device, turn.stream(), event->needs));
        drain.done();
        event->end(turn);
        done = std::move(event);
        return success;
    }

    // Frees what this thread's launches in callers' streams need no more.
    Kept &sweep_kept() {
        constexpr std::size_t few = 4; // more than one call adds, so that the list stays short
        Kept &kept = kept_.own();
        (void)kept.sweep(few);
        if (std::size_t part; kept.is_time_for_others(part)) (void)kept_[part].sweep(few);
        return kept;
    }

    enum class Peer : uint8_t { unknown, yes, no };

    // Asked for each pair of devices until there is an answer.
    bool is_peer(int device, int other) const {
        if (device < 0 || device >= max_devices || other < 0 || other >= max_devices) return false;
        auto &known = peers_[static_cast<std::size_t>(device)][static_cast<std::size_t>(other)];
        Peer peer = known.load(std::memory_order_acquire);
        if (peer == Peer::unknown) {
            peer = enable_peer(device, other);
            known.store(peer, std::memory_order_release);
        }
        return peer == Peer::yes;
    }

    static Peer enable_peer(int device, int other) {
        int can = 0;
        if (gpuDeviceCanAccessPeer(&can, device, other) != gpuSuccess) {
            (void)gpuGetLastError();
            return Peer::unknown;
        }
        if (can == 0) return Peer::no;
        const driver::Current current(device);
        if (!current.status.ok()) return Peer::unknown;
        const gpuError_t error = gpuDeviceEnablePeerAccess(other, 0);
        if (error != gpuSuccess) (void)gpuGetLastError();
        const bool enabled = error == gpuSuccess || error == gpuErrorPeerAccessAlreadyEnabled;
        return enabled ? Peer::yes : Peer::no;
    }

    mutable std::array<std::array<std::atomic<Peer>, max_devices>, max_devices> peers_ = {};
    std::mutex mutex_;
    std::array<std::unique_ptr<Device>, max_devices> devices_;
    std::array<std::atomic<Device *>, max_devices> opened_ = {};
    PerThread<Kept> kept_;
};

} // namespace

std::unique_ptr<Backend> create_backend() {
    return std::make_unique<GpuBackend>();
}

} // namespace UCD_GPU
} // namespace ucd
