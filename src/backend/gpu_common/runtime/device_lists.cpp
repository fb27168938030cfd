#include "runtime/device_lists.h"

#include "runtime/batch_tables.h"
#include "runtime/check.h"

namespace ucd::UCD_GPU {

DeviceLists::~DeviceLists() {
    if (store_ != nullptr) store_->forget(*this);
}

// Memory of freed lists is kept, because returning it to the driver would wait for the device.
// `held` has one entry, which is filled in or replaced.
Status ListStore::allocate(std::size_t size, ListsOnDevice &on, Device &device, ListMemory &held) {
    for (;;) {
        const auto it = on.unused.lower_bound(size);
        if (it != on.unused.end() && it->first <= 2 * size) {
            held.clear();
            held.insert(on.unused.extract(it));
            return success;
        }
        void *memory = nullptr;
        const Status status = check(gpuMalloc(&memory, size), "allocating memory for lists");
        if (status.ok()) {
            held.begin()->second = static_cast<char *>(memory);
            return success;
        }
        if (status.code() != UCD_ERR__OUT_OF_MEM) return status;
        if (!on.unused.empty()) {
            UCD_TRY(check(gpuFree(on.unused.begin()->second), "freeing memory for lists"));
            on.unused.erase(on.unused.begin());
        } else if (!evict_one(on, device) && !device.tables().free_some(device)) {
            return status;
        }
    }
}

// The clock algorithm: lists that were used since the last pass are skipped once.
bool ListStore::evict_one(ListsOnDevice &on, const Device &device) {
    const auto index = static_cast<std::size_t>(device.index());
    for (std::size_t looks = 2 * on.by_age.size(); looks > 0; --looks) {
        DeviceLists::ListCopy &copy = on.by_age.front()->copies_[index];
        // A call that comes later sees `ready` as 0 and waits for the lock; one that came before is
        // counted in `uses`.
        const uint64_t address = copy.ready.exchange(0);
        if (copy.uses == 0 && !copy.stays && !copy.used_lately.exchange(false)) {
            on.unused.insert(std::move(copy.held));
            on.by_age.pop_front();
            copy.uploaded = {};
            return true;
        }
        copy.ready = address;
        on.by_age.splice(on.by_age.end(), on.by_age, on.by_age.begin());
    }
    return false;
}

Status ListStore::upload(DeviceLists &lists, Device &device) {
    constexpr std::size_t granule = 512;
    const auto index = static_cast<std::size_t>(device.index());
    ListsOnDevice &on = devices_[index];
    // All calls that may throw come first.
    std::list<DeviceLists *> entry(1, &lists);
    ListMemory held;
    held.emplace((lists.bytes_.size() + granule - 1) / granule * granule, nullptr);
    PooledEvent uploaded;
    UCD_TRY(device.take_event(uploaded));
    const auto start = [&]() -> Status {
        UCD_TRY(allocate(held.begin()->first, on, device, held));
        // The source is pageable memory, so the runtime has read it when the call returns.
        UCD_TRY(check(gpuMemcpyAsync(held.begin()->second, lists.bytes_.data(), lists.bytes_.size(),
                                     gpuMemcpyDefault, device.upload_stream()),
                      "uploading lists"));
        return check(gpuEventRecord(uploaded.get(), device.upload_stream()), "recording an event");
    };
    if (const Status status = start(); !status.ok()) {
        if (held.begin()->second != nullptr) on.unused.merge(held);
        return status;
    }
    DeviceLists::ListCopy &copy = lists.copies_[index];
    copy.held = held.extract(held.begin());
    copy.uploaded = std::move(uploaded);
    copy.age = entry.begin();
    if (lists.store_.get() != this) lists.store_ = device.stores().lists;
    on.by_age.splice(on.by_age.end(), entry);
    return success;
}

Status ListStore::use(DeviceLists &lists, Device &device, gpuStream_t stream, LaunchState state,
                      uint64_t &address, ListUse &use) {
    DeviceLists::ListCopy &copy = lists.copies_[static_cast<std::size_t>(device.index())];
    ListUse begun(copy.uses); // before `ready` is read, so that no eviction comes between
    if (state == LaunchState::captured && !copy.stays) UCD_TRY(prepare(lists, device));
    address = copy.ready;
    if (address == 0) {
        const std::lock_guard lock(mutex_);
        UCD_TRY(upload_or_find(lists, device, stream, state, address));
    }
    // Written only if it changes, because threads share the cache line.
    if (!copy.used_lately.load(std::memory_order_relaxed)) copy.used_lately = true;
    use = std::move(begun);
    return success;
}

// Called with the lock held. Makes the device current only here, because a thread's first call of a
// driver takes longer than most of what threads do that build a batch's tables.
Status ListStore::upload_or_find(DeviceLists &lists, Device &device, gpuStream_t stream,
                                 LaunchState state, uint64_t &address) {
    const CurrentDevice current(device.index());
    UCD_TRY(current.status);
    DeviceLists::ListCopy &copy = lists.copies_[static_cast<std::size_t>(device.index())];
    if (copy.held.empty()) UCD_TRY(upload(lists, device));
    address = reinterpret_cast<uintptr_t>(copy.held.mapped());
    if (copy.uploaded) {
        const gpuError_t done = state == LaunchState::recorded
                                    ? gpuEventSynchronize(copy.uploaded.get())
                                    : gpuEventQuery(copy.uploaded.get());
        if (done == gpuErrorNotReady)
            return check(gpuStreamWaitEvent(stream, copy.uploaded.get()), "waiting for an upload");
        UCD_TRY(check(done, "uploading lists"));
        copy.uploaded = {};
    }
    copy.ready = address;
    return success;
}

Status ListStore::prepare(DeviceLists &lists, Device &device) {
    const std::lock_guard lock(mutex_);
    uint64_t address;
    UCD_TRY(upload_or_find(lists, device, nullptr, LaunchState::recorded, address));
    lists.copies_[static_cast<std::size_t>(device.index())].stays = true;
    return success;
}

Status ListStore::free_some(const Device &device, bool &freed) {
    const std::lock_guard lock(mutex_);
    ListsOnDevice &on = devices_[static_cast<std::size_t>(device.index())];
    freed = false;
    if (on.unused.empty() && !evict_one(on, device)) return success;
    UCD_TRY(check(gpuFree(on.unused.begin()->second), "freeing memory for lists"));
    on.unused.erase(on.unused.begin());
    freed = true;
    return success;
}

void ListStore::forget(DeviceLists &lists) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        DeviceLists::ListCopy &copy = lists.copies_[i];
        if (copy.held.empty()) continue;
        devices_[i].by_age.erase(copy.age);
        devices_[i].unused.insert(std::move(copy.held));
        copy.uploaded = {};
    }
}

void ListStore::close(Device &device) {
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<std::size_t>(device.index());
    ListsOnDevice &on = devices_[index];
    for (DeviceLists *lists : on.by_age) {
        DeviceLists::ListCopy &copy = lists->copies_[index];
        on.unused.insert(std::move(copy.held));
        copy.uploaded = {};
        copy.ready = 0;
        copy.stays = false;
    }
    on.by_age.clear();
    // Failures are ignored: at exit, the driver may already be unloaded.
    for (const auto &[size, memory] : on.unused) (void)gpuFree(memory);
    on.unused.clear();
}

} // namespace ucd::UCD_GPU
