#include "runtime/device_lists.h"

#include "runtime/check.h"

#include <algorithm>

namespace ucd::UCD_GPU {

DeviceLists::~DeviceLists() {
    ListStore::instance().forget(*this);
}

ListUse::~ListUse() {
    if (lists_ != nullptr) ListStore::instance().end_use(*lists_, device_);
}

ListStore &ListStore::instance() {
    static ListStore *store = new ListStore; // plans may be freed at exit
    return *store;
}

// The memory of lists that are freed stays here, since giving it back to the driver would wait for
// the device. `held` has one entry, to be filled in or replaced.
Status ListStore::allocate(std::size_t size, OnDevice &on, Device &device, ListMemory &held) {
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
        } else if (!evict_one(on, device)) {
            return status;
        }
    }
}

bool ListStore::evict_one(OnDevice &on, Device &device) {
    const auto index = static_cast<std::size_t>(device.index());
    const auto it = std::find_if(on.by_age.begin(), on.by_age.end(), [&](const DeviceLists *t) {
        return t->copies_[index].uses == 0 && !t->copies_[index].stays;
    });
    if (it == on.by_age.end()) return false;
    DeviceLists::Copy &copy = (*it)->copies_[index];
    on.unused.insert(std::move(copy.held));
    on.by_age.erase(it);
    if (copy.uploaded != nullptr) device.give_back(copy.uploaded);
    copy.uploaded = nullptr;
    return true;
}

Status ListStore::upload(DeviceLists &lists, Device &device) {
    constexpr std::size_t granule = 512;
    const auto index = static_cast<std::size_t>(device.index());
    OnDevice &on = devices_[index];
    on.open = true;
    // Whatever may throw comes first.
    std::list<DeviceLists *> entry(1, &lists);
    ListMemory held;
    held.emplace((lists.bytes_.size() + granule - 1) / granule * granule, nullptr);
    gpuEvent_t uploaded = nullptr;
    UCD_TRY(device.take_event(uploaded));
    const auto start = [&]() -> Status {
        UCD_TRY(allocate(held.begin()->first, on, device, held));
        // From pageable memory: the runtime has read it when it returns.
        UCD_TRY(check(gpuMemcpyAsync(held.begin()->second, lists.bytes_.data(), lists.bytes_.size(),
                                     gpuMemcpyDefault, device.upload_stream()),
                      "uploading lists"));
        return check(gpuEventRecord(uploaded, device.upload_stream()), "recording an event");
    };
    if (const Status status = start(); !status.ok()) {
        if (held.begin()->second != nullptr) on.unused.merge(held);
        device.give_back(uploaded);
        return status;
    }
    DeviceLists::Copy &copy = lists.copies_[index];
    copy.held = held.extract(held.begin());
    copy.uploaded = uploaded;
    copy.age = entry.begin();
    on.by_age.splice(on.by_age.end(), entry);
    return success;
}

Status ListStore::use(DeviceLists &lists, Device &device, gpuStream_t stream, LaunchMode mode,
                      uint64_t &address, ListUse &use) {
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<std::size_t>(device.index());
    DeviceLists::Copy &copy = lists.copies_[index];
    if (mode == LaunchMode::capture && !copy.stays) return not_prepared();
    if (copy.held.empty()) {
        UCD_TRY(upload(lists, device));
    } else {
        auto &ages = devices_[index].by_age;
        ages.splice(ages.end(), ages, copy.age);
    }
    if (copy.uploaded != nullptr) {
        const gpuError_t state = gpuEventQuery(copy.uploaded);
        if (state == gpuErrorNotReady) {
            UCD_TRY(check(gpuStreamWaitEvent(stream, copy.uploaded), "waiting for an upload"));
        } else {
            UCD_TRY(check(state, "uploading lists"));
            device.give_back(copy.uploaded);
            copy.uploaded = nullptr;
        }
    }
    ++copy.uses;
    address = reinterpret_cast<uintptr_t>(copy.held.mapped());
    use = ListUse(&lists, device.index());
    return success;
}

Status ListStore::prepare(DeviceLists &lists, Device &device) {
    const std::lock_guard lock(mutex_);
    DeviceLists::Copy &copy = lists.copies_[static_cast<std::size_t>(device.index())];
    if (copy.held.empty()) UCD_TRY(upload(lists, device));
    if (copy.uploaded != nullptr) {
        UCD_TRY(check(gpuEventSynchronize(copy.uploaded), "uploading lists"));
        device.give_back(copy.uploaded);
        copy.uploaded = nullptr;
    }
    copy.stays = true;
    return success;
}

void ListStore::end_use(DeviceLists &lists, int device) {
    const std::lock_guard lock(mutex_);
    --lists.copies_[static_cast<std::size_t>(device)].uses;
}

void ListStore::forget(DeviceLists &lists) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        DeviceLists::Copy &copy = lists.copies_[i];
        if (copy.held.empty()) continue;
        devices_[i].by_age.erase(copy.age);
        devices_[i].unused.insert(std::move(copy.held));
        if (copy.uploaded != nullptr) (void)gpuEventDestroy(copy.uploaded);
    }
}

void ListStore::close(Device &device) {
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<std::size_t>(device.index());
    OnDevice &on = devices_[index];
    if (!on.open) return;
    for (DeviceLists *lists : on.by_age) {
        DeviceLists::Copy &copy = lists->copies_[index];
        if (copy.uploaded != nullptr) device.give_back(copy.uploaded);
        on.unused.insert(std::move(copy.held));
        copy = {};
    }
    on.by_age.clear();
    // Failures are ignored: at exit, the driver may have been unloaded before.
    for (const auto &[size, memory] : on.unused) (void)gpuFree(memory);
    on.unused.clear();
    on.open = false;
}

} // namespace ucd::UCD_GPU
