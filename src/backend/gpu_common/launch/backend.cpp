// The Backend class for a GPU vendor.

#include "implement.h"
#include "plugin.h"

#include "kernels/reduce_kernels.h"
#include "launch/create_backend.h"
#include "launch/launch.h"
#include "launch/launch_scope.h"
#include "plan/device_plan.h"
#include "runtime/check.h"
#include "runtime/fd_calls.h"
#include "runtime/fd_memory.h"
#include "runtime/shared_memory.h"

#include <array>
#include <atomic>

namespace ucd {
namespace UCD_GPU {
namespace {

class GpuPreparedLaunch final : public PreparedLaunchOf<GpuPreparedLaunch> {
public:
    GpuPreparedLaunch(int on_device, uint64_t about_bytes)
        : device(on_device), bytes(about_bytes) {}
    const int device;
    const uint64_t bytes; // about as many as it moves
    LaunchNeeds needs;
};

constexpr uint64_t large_launch = uint64_t{1} << 20;

// The approximate bytes of a list. Lists of several moves count as large, so that the lane sets a
// mark behind each.
uint64_t bytes_of(const MoveList &list) {
    return list.size() == 1 ? list.front().length : large_launch;
}

class GpuBackend final : public BackendOf<GpuBackend> {
public:
    const char *name() const { return vendor_name; }

    Status probe(BackendState &state) {
        state = driver::look();
        return success;
    }
    Status inspect(const BackendState *&state) {
        state = &driver::initialise();
        return success;
    }

    Status use_context(uint64_t context, int device) {
        if constexpr (has_contexts) return driver::use_context(context, device);
        return success;
    }

    Status find(const void *address, MemoryLocation &location) const {
        UCD_TRY(driver::find(address, location));
        if (location.kind != MemoryKind::host) location.owner = this;
        return success;
    }

    bool hides_memory() const { return has_contexts; }
    Status check_unknown(const void *address) const {
        if constexpr (has_contexts) return driver::check_unknown(address);
        return success;
    }

    bool reaches(int device, const MemoryLocation &location) const {
        if (location.owner != this || location.kind == MemoryKind::host) return false;
        if (location.device == device) return true;
        if (location.kind != MemoryKind::device) {
            if constexpr (has_contexts) return driver::shares_host_memory(device, location);
            return true;
        }
        return location.own_access ? driver::has_access(device, location)
                                   : is_peer(device, location.device);
    }

    bool supports(Op op, Element element) const {
        // A later libucd may have more of both.
        if (op >= Op::count_ || element >= Element::count_) return false;
        // Some of the kernels for conversions compute with doubles.
        if (is_conversion(op))
            return is_convertible(element, Element::float32) &&
                   driver::has_element(Element::float64);
        return op == Op::replace ||
               (reduce_kernel(op, element) != nullptr && driver::has_element(element));
    }

    Status plan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes,
                Owner<KernelPlan> &plan) const {
        plan = make_owned<GpuPlan>(layout, extent, repeated, max_bytes);
        return success;
    }

    Status launch(int index, const MoveList &list, Owner<Event> &done) {
        LaneLaunch launch(devices_, index, bytes_of(list));
        UCD_TRY(launch.status());
        UCD_TRY(launch_list(launch.target(), list));
        done = launch.end();
        return success;
    }

    Status launch_made(int index, MoveMaker &maker, Owner<Event> &done) {
        LaneLaunch launch(devices_, index, large_launch);
        UCD_TRY(launch.status());
        UCD_TRY(UCD_GPU::launch_made(launch.target(), maker));
        done = launch.end();
        return success;
    }

    Status device_of(const NativeStream &native, int &device) {
        const BesideCaptures beside;
        return driver::find_device(static_cast<gpuStream_t>(native.native), device);
    }

    Status launch_in(const NativeStream &native, const MoveList &list, const Keep &keep) {
        StreamLaunch launch(devices_, kept_, native, keep, list.size() > 1);
        UCD_TRY(launch.status());
        UCD_TRY(launch.keep_with_graph(kept_, keep));
        return launch_list(launch.target(), list);
    }

    Status launch_made_in(const NativeStream &native, MoveMaker &maker, Keep keep) {
        StreamLaunch launch(devices_, kept_, native, std::move(keep), true);
        UCD_TRY(launch.status());
        return UCD_GPU::launch_made(launch.target(), maker);
    }

    Status prepare_launch(int index, const MoveList &list, Owner<PreparedLaunch> &prepared) {
        const OnDevice at(devices_, index);
        UCD_TRY(at.status);
        auto made = make_owned<GpuPreparedLaunch>(index, bytes_of(list));
        LaunchTarget target(at.device(), at.device().upload_stream(), LaunchState::recorded,
                            made->needs);
        UCD_TRY(launch_list(target, list));
        prepared = std::move(made);
        return success;
    }

    Status launch_prepared(const PreparedLaunch &launched, Owner<Event> &done) {
        const auto &prepared = static_cast<const GpuPreparedLaunch &>(launched);
        LaneLaunch launch(devices_, prepared.device, prepared.bytes);
        UCD_TRY(launch.status());
        UCD_TRY(launch.target().run(prepared.needs.steps));
        done = launch.end();
        return success;
    }

    Status launch_prepared_in(const NativeStream &native, const PreparedLaunch &launched,
                              const Keep &keep) {
        const auto &prepared = static_cast<const GpuPreparedLaunch &>(launched);
        StreamLaunch launch(devices_, kept_, native, keep, false);
        UCD_TRY(launch.status());
        UCD_TRY(launch.keep_with_graph(kept_, keep));
        return launch.target().run(prepared.needs.steps);
    }

    Status prepare(const NativeStream &native, const Move &move) {
        const OnDevice at(devices_, native.device);
        UCD_TRY(at.status);
        UCD_TRY(prepare_batches());
        if (is_reduction(move.op)) return prepare_reduction(at.device(), move);
        if (is_conversion(move.op)) UCD_TRY(prepare_conversions());
        const Side &side = move.typed();
        const GpuPlan &plan = plan_of(side);
        UCD_TRY(prepare_copies(plan));
        UCD_TRY(prepare_plan(at.device(), plan, side.count));
        if (is_conversion(move.op))
            for (const Op op : {Op::convert, Op::convert_sat}) plan.set_prepared(native.device, op);
        return success;
    }

    bool takes(const Move &move) const { return !is_conversion(move.op) || can_convert(move); }

    Status copy(int index, void *to, const void *from, std::size_t bytes, Owner<Event> &done) {
        LaneLaunch launch(devices_, index, bytes);
        UCD_TRY(launch.status());
        UCD_TRY(launch.target().copy(PlainCopy{to, from, bytes}));
        done = launch.end();
        return success;
    }

    Status allocate(int index, MemoryKind kind, std::size_t bytes, void *&memory) {
        const CurrentDevice current(index);
        UCD_TRY(current.status);
        if (kind == MemoryKind::pinned)
            return check(gpuHostAlloc(&memory, bytes, gpuHostAllocPortable),
                         "allocating pinned memory");
        return check(gpuMalloc(&memory, bytes), "allocating device memory");
    }

    void release(int index, MemoryKind kind, void *memory) {
        const CurrentDevice current(index);
        // Ignore failures: at exit, the driver may have been unloaded already.
        (void)(kind == MemoryKind::pinned ? gpuHostFree(memory) : gpuFree(memory));
    }

    Status export_memory(const void *address, std::size_t bytes, MemoryHandle &handle) {
        MemoryLocation location;
        UCD_TRY(find_on_device(address, location));
        const CurrentDevice current(location.device);
        UCD_TRY(current.status);
        return ucd::UCD_GPU::export_memory(address, bytes, handle);
    }

    Status open_memory(int index, const MemoryHandle &handle, std::size_t bytes,
                       void *&allocation) {
        const CurrentDevice current(index);
        UCD_TRY(current.status);
        return ucd::UCD_GPU::open_memory(handle, bytes, allocation);
    }

    Status export_fds(const void *address, std::size_t bytes, FdHandle &handle, int *fds,
                      std::size_t room, std::size_t &count) {
        if constexpr (!shares_by_fds) {
            count = 0;
            return success;
        } else {
            MemoryLocation location;
            UCD_TRY(find_on_device(address, location));
            const CurrentDevice current(location.device);
            UCD_TRY(current.status);
            return ucd::UCD_GPU::export_fds(location, address, bytes, handle, {fds, room}, count);
        }
    }

    Status open_fds(int index, const FdHandle &handle, std::size_t bytes, const int *fds,
                    std::size_t count, void *&allocation) {
        if constexpr (!shares_by_fds) {
            return fail(UCD_ERR__NOT_SUPPORTED, "%s: memory is not shared by file descriptors",
                        runtime_name);
        } else {
            const CurrentDevice current(index);
            UCD_TRY(current.status);
            return ucd::UCD_GPU::open_fds(index, handle, bytes, {fds, count}, allocation);
        }
    }

    Status device_plan(int index, const Layout &layout, int64_t extent, uint64_t count,
                       uint64_t max_bytes, ucd_device_plan_t &plan) {
        if constexpr (!runs_device_code)
            return fail(UCD_ERR__NOT_SUPPORTED, "%s: ucd_device.h has no code for these devices",
                        runtime_name);
        DevicePlan made = make_device_plan(layout, extent, count, max_bytes, tuning);
        if (!made.lists.empty()) {
            void *memory = nullptr;
            UCD_TRY(allocate(index, MemoryKind::device, made.lists.size(), memory));
            const Status status = upload(index, made.lists, memory);
            if (!status.ok()) {
                release(index, MemoryKind::device, memory);
                return status;
            }
            place_lists(made.plan, reinterpret_cast<uintptr_t>(memory));
        }
        plan = made.plan;
        return success;
    }

    uint64_t device_identity(int device) const { return driver::identify(device); }

    Status finish() {
        kept_.finish();
        return success;
    }

    void close_memory(int index, void *allocation) {
        const CurrentDevice current(index);
        if constexpr (shares_by_fds)
            if (ucd::UCD_GPU::close_fds(allocation)) return;
        // Ignore failures: at exit, the driver may have been unloaded already.
        (void)gpuIpcCloseMemHandle(allocation);
    }

private:
    // Returns when the bytes are in device memory.
    Status upload(int index, const std::vector<char> &bytes, void *memory) {
        const OnDevice at(devices_, index);
        UCD_TRY(at.status);
        const gpuStream_t stream = at.device().upload_stream();
        UCD_TRY(check(gpuMemcpyAsync(memory, bytes.data(), bytes.size(), gpuMemcpyDefault, stream),
                      "uploading lists"));
        return check(gpuStreamSynchronize(stream), "uploading lists");
    }

    // Finds where memory is that must be in one device's memory.
    Status find_on_device(const void *address, MemoryLocation &location) {
        UCD_TRY(find(address, location));
        if (location.kind == MemoryKind::device) return success;
        return fail(UCD_ERR__INVALID_ARG, "%p is not in memory of a device", address);
    }

    enum class Peer : uint8_t { unknown, yes, no };

    // Whether kernels on `device` can access memory of `other`. The driver is asked until it has
    // answered once.
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
        const BesideCaptures beside;
        int can = 0;
        if (gpuDeviceCanAccessPeer(&can, device, other) != gpuSuccess) {
            (void)gpuGetLastError();
            return Peer::unknown;
        }
        if (can == 0) return Peer::no;
        const CurrentDevice current(device);
        if (!current.status.ok()) return Peer::unknown;
        const gpuError_t error = gpuDeviceEnablePeerAccess(other, 0);
        if (error != gpuSuccess) (void)gpuGetLastError();
        const bool enabled = error == gpuSuccess || error == gpuErrorPeerAccessAlreadyEnabled;
        return enabled ? Peer::yes : Peer::no;
    }

    mutable std::array<std::array<std::atomic<Peer>, max_devices>, max_devices> peers_ = {};
    OpenDevices devices_;
    KeptLaunches kept_; // destroyed first: it waits for launches on the devices
};

} // namespace

Owner<Backend> create_backend() {
    return make_owned<GpuBackend>();
}

const Plugin &as_plugin() {
    static_assert(device_plan_version == UCD_DEVICE_PLAN__VERSION);
    static constexpr Plugin plugin = plugin_of<GpuBackend, GpuPlan, LaneEvent, GpuPreparedLaunch>();
    return plugin;
}

} // namespace UCD_GPU
} // namespace ucd
