#include "runtime/batch_tables.h"

#include "runtime/check.h"
#include "runtime/device_lists.h"

#include <algorithm>
#include <bit>

namespace ucd::UCD_GPU {

BatchTable::~BatchTable() {
    // Ignore failures: at exit, the driver may have been unloaded already.
    if (memory_ != nullptr) (void)gpuFree(memory_);
    if (pinned_ != nullptr) (void)gpuHostFree(pinned_);
}

namespace {

bool is_idle(const std::atomic<unsigned> &uses) {
    return uses.load(std::memory_order_acquire) == 0;
}

} // namespace

// Takes an unused table with at least this capacity. Prefers the one used last, whose memory may
// still be in a cache.
bool BatchStore::take_idle(TablesOnDevice &on, std::size_t bytes, BatchUse &use) {
    std::shared_ptr<BatchTable> best;
    for (const auto &table : on.tables)
        if (is_idle(table->uses_) && table->capacity_ >= bytes &&
            (best == nullptr || table->used_at_ > best->used_at_))
            best = table;
    if (best == nullptr) return false;
    best->used_at_ = ++on.uses;
    use = BatchUse(std::move(best));
    return true;
}

// Frees memory as late as possible, because that waits for the device.
Status BatchStore::take(const Device &device, std::size_t bytes, BatchUse &use) {
    for (;;) {
        const Status status = take_or_allocate(device, bytes, use);
        if (status.code() != UCD_ERR__OUT_OF_MEM) return status;
        // Not while the mutex is held, because the other store calls this one.
        bool freed = free_some(device);
        if (!freed) UCD_TRY(device.lists().free_some(device, freed));
        if (!freed) return status;
    }
}

Status BatchStore::take_or_allocate(const Device &device, std::size_t bytes, BatchUse &use) {
    const std::lock_guard lock(mutex_);
    TablesOnDevice &on = devices_[static_cast<std::size_t>(device.index())];
    if (take_idle(on, bytes, use)) return success;
    constexpr std::size_t least = std::size_t{1} << 16;
    on.tables.reserve(on.tables.size() + 1);
    auto table = std::make_shared<BatchTable>();
    table->capacity_ = std::bit_ceil(std::max(bytes, least));
    UCD_TRY(check(gpuMalloc(&table->memory_, table->capacity_), "allocating memory for a batch"));
    UCD_TRY(check(gpuHostAlloc(&table->pinned_, table->capacity_, gpuHostAllocPortable),
                  "allocating pinned memory for a batch"));
    table->used_at_ = ++on.uses;
    use = BatchUse(table);
    on.tables.push_back(std::move(table));
    return success;
}

bool BatchStore::free_some(const Device &device) {
    const std::lock_guard lock(mutex_);
    TablesOnDevice &on = devices_[static_cast<std::size_t>(device.index())];
    const auto it = std::find_if(on.tables.begin(), on.tables.end(),
                                 [](const auto &t) { return is_idle(t->uses_); });
    if (it == on.tables.end()) return false;
    on.tables.erase(it);
    return true;
}

void BatchStore::close(const Device &device) {
    const std::lock_guard lock(mutex_);
    TablesOnDevice &on = devices_[static_cast<std::size_t>(device.index())];
    on.tables.clear();
}

} // namespace ucd::UCD_GPU
