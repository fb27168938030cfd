#include "tables.h"

#include "check.h"

#include <algorithm>

namespace ucd::UCD_GPU {

Tables::~Tables() {
    TableStore::instance().forget(*this);
}

TableUse::~TableUse() {
    if (tables_ != nullptr) TableStore::instance().end_use(*tables_, device_);
}

TableStore &TableStore::instance() {
    static TableStore *store = new TableStore; // plans may go at exit
    return *store;
}

// Forgotten tables leave their memory here, since giving it back to the driver would wait for the
// device.
Status TableStore::allocate(std::size_t bytes, OnDevice &on, int device,
                            ListMemory::node_type &memory) {
    constexpr std::size_t granule = 512;
    const std::size_t size = (bytes + granule - 1) / granule * granule;
    for (;;) {
        const auto it = on.unused.lower_bound(size);
        if (it != on.unused.end() && it->first <= 2 * size) {
            memory = on.unused.extract(it);
            return success;
        }
        ListMemory made{{size, nullptr}};
        void *address = nullptr;
        const Status status = check(gpuMalloc(&address, size), "allocating memory for lists");
        if (status.ok()) {
            memory = made.extract(made.begin());
            memory.mapped() = static_cast<char *>(address);
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

bool TableStore::evict_one(OnDevice &on, int device) {
    const auto index = static_cast<std::size_t>(device);
    const auto it = std::find_if(on.by_age.begin(), on.by_age.end(), [&](const Tables *t) {
        return t->copies_[index].uses == 0 && !t->copies_[index].stays;
    });
    if (it == on.by_age.end()) return false;
    Tables::Copy &copy = (*it)->copies_[index];
    on.unused.insert(std::move(copy.memory));
    on.by_age.erase(it);
    return true;
}

Status TableStore::upload(Tables &tables, Device &device) {
    const auto index = static_cast<std::size_t>(device.index());
    OnDevice &on = devices_[index];
    Tables::Copy &copy = tables.copies_[index];
    on.open = true;
    // First, so that the memory can always be noted down. An event that was made for nothing stays.
    std::list<Tables *> age{&tables};
    if (copy.uploaded == nullptr) UCD_TRY(device.take_event(copy.uploaded));
    ListMemory::node_type memory;
    UCD_TRY(allocate(tables.image_.size(), on, device.index(), memory));
    const auto start = [&]() -> Status {
        // From pageable memory: the runtime has read it when it returns.
        UCD_TRY(check(gpuMemcpyAsync(memory.mapped(), tables.image_.data(), tables.image_.size(),
                                     gpuMemcpyDefault, device.upload_stream()),
                      "uploading lists"));
        return check(gpuEventRecord(copy.uploaded, device.upload_stream()), "recording an event");
    };
    const Status status = start();
    if (!status.ok()) {
        on.unused.insert(std::move(memory));
        return status;
    }
    copy.memory = std::move(memory);
    copy.age = age.begin();
    on.by_age.splice(on.by_age.end(), age);
    return success;
}

Status TableStore::use(Tables &tables, Device &device, gpuStream_t stream, LaunchMode mode,
                       const char *&memory, TableUse &use) {
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<std::size_t>(device.index());
    Tables::Copy &copy = tables.copies_[index];
    if (mode == LaunchMode::capture && !copy.stays) return not_prepared();
    if (copy.memory.empty()) {
        UCD_TRY(upload(tables, device));
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
    memory = copy.memory.mapped();
    use = TableUse(&tables, device.index());
    return success;
}

Status TableStore::prepare(Tables &tables, Device &device) {
    const std::lock_guard lock(mutex_);
    Tables::Copy &copy = tables.copies_[static_cast<std::size_t>(device.index())];
    if (copy.memory.empty()) UCD_TRY(upload(tables, device));
    if (copy.uploaded != nullptr) {
        UCD_TRY(check(gpuEventSynchronize(copy.uploaded), "uploading lists"));
        device.give_back(copy.uploaded);
        copy.uploaded = nullptr;
    }
    copy.stays = true;
    return success;
}

void TableStore::end_use(Tables &tables, int device) {
    const std::lock_guard lock(mutex_);
    --tables.copies_[static_cast<std::size_t>(device)].uses;
}

void TableStore::forget(Tables &tables) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        Tables::Copy &copy = tables.copies_[i];
        if (copy.uploaded != nullptr) (void)gpuEventDestroy(copy.uploaded);
        if (copy.memory.empty()) continue;
        devices_[i].by_age.erase(copy.age);
        devices_[i].unused.insert(std::move(copy.memory));
    }
}

void TableStore::close(Device &device) {
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<std::size_t>(device.index());
    OnDevice &on = devices_[index];
    if (!on.open) return;
    for (Tables *tables : on.by_age) {
        Tables::Copy &copy = tables->copies_[index];
        if (copy.uploaded != nullptr) device.give_back(copy.uploaded);
        on.unused.insert(std::move(copy.memory));
        copy = {};
    }
    on.by_age.clear();
    // The driver may have gone before, at exit; then its memory has gone, too.
    for (const auto &[size, memory] : on.unused) (void)gpuFree(memory);
    on.unused.clear();
    on.open = false;
}

} // namespace ucd::UCD_GPU
