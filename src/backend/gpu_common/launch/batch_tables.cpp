#include "launch/batch_tables.h"

#include "runtime/check.h"

#include <algorithm>
#include <bit>

namespace ucd::UCD_GPU {

BatchStore &BatchStore::instance() {
    static BatchStore *store = new BatchStore; // graphs may go at exit
    return *store;
}

BatchUse BatchStore::find(const Device &device, uint64_t identity) {
    const std::lock_guard lock(mutex_);
    OnDevice &on = devices_[static_cast<std::size_t>(device.index())];
    for (const auto &table : on.tables) {
        if (table->outdated_ || table->identity_ != identity) continue;
        // Waiting for the upload would mean waiting for all that is before it in its stream.
        if (!table->surely_uploaded_) {
            if (gpuEventQuery(table->uploaded_) != gpuSuccess) continue;
            table->surely_uploaded_ = true;
        }
        table->used_at_ = ++on.uses;
        return BatchUse(table);
    }
    return {};
}

void BatchStore::forget(const BatchUse &use) {
    const std::lock_guard lock(mutex_);
    use.table_->outdated_ = true;
}

void BatchStore::release(BatchTable &table) {
    // Failures are ignored: at exit, the driver may have been unloaded before.
    if (table.memory_ != nullptr) (void)gpuFree(table.memory_);
    if (table.pinned_ != nullptr) (void)gpuHostFree(table.pinned_);
    if (table.uploaded_ != nullptr) (void)gpuEventDestroy(table.uploaded_);
    table.memory_ = table.pinned_ = nullptr;
    table.uploaded_ = nullptr;
}

Status BatchStore::allocate(std::size_t bytes, BatchTable &table) {
    constexpr std::size_t least = std::size_t{1} << 16;
    table.capacity_ = std::bit_ceil(std::max(bytes, least));
    const auto start = [&]() -> Status {
        void *memory = nullptr;
        UCD_TRY(check(gpuMalloc(&memory, table.capacity_), "allocating memory for a batch"));
        table.memory_ = static_cast<char *>(memory);
        UCD_TRY(check(gpuHostAlloc(&memory, table.capacity_, gpuHostAllocPortable),
                      "allocating pinned memory for a batch"));
        table.pinned_ = static_cast<char *>(memory);
        return check(gpuEventCreateWithFlags(&table.uploaded_, gpuEventDisableTiming),
                     "creating an event");
    };
    const Status status = start();
    if (!status.ok()) {
        const LastError error = last_error();
        release(table);
        last_error() = error;
    }
    return status;
}

namespace {

bool is_idle(const std::atomic<unsigned> &uses) {
    return uses.load(std::memory_order_acquire) == 0;
}

} // namespace

// A table that is in no use and has so much room: the last one used of those that are not found
// again, since its memory may be in a cache; or else the oldest of the others.
bool BatchStore::take_idle(OnDevice &on, std::size_t bytes, bool forget, BatchUse &use) {
    std::shared_ptr<BatchTable> best;
    const auto is_better = [&best](const BatchTable &table) {
        if (best == nullptr) return true;
        if ((table.identity_ == 0) != (best->identity_ == 0)) return table.identity_ == 0;
        return (table.used_at_ > best->used_at_) == (table.identity_ == 0);
    };
    for (const auto &table : on.tables)
        if (is_idle(table->uses_) && table->capacity_ >= bytes &&
            (forget || table->identity_ == 0) && is_better(*table))
            best = table;
    if (best == nullptr) return false;
    best->identity_ = 0;
    best->outdated_ = false;
    use = BatchUse(std::move(best));
    return true;
}

// Memory is given back as late as possible, since that waits for the device.
Status BatchStore::take(const Device &device, std::size_t bytes, uint64_t identity, BatchUse &use) {
    constexpr std::ptrdiff_t max_remembered = 8; // batches
    const std::lock_guard lock(mutex_);
    OnDevice &on = devices_[static_cast<std::size_t>(device.index())];
    const bool forget =
        identity != 0 && std::count_if(on.tables.begin(), on.tables.end(), [](const auto &table) {
                             return table->identity_ != 0;
                         }) >= max_remembered;
    if (take_idle(on, bytes, forget, use)) return success;
    on.tables.reserve(on.tables.size() + 1);
    auto table = std::make_shared<BatchTable>();
    Status status = allocate(bytes, *table);
    while (!status.ok()) {
        if (status.code() != UCD_ERR__OUT_OF_MEM) return status;
        if (take_idle(on, bytes, true, use)) return success;
        const auto it = std::find_if(on.tables.begin(), on.tables.end(),
                                     [](const auto &t) { return is_idle(t->uses_); });
        if (it == on.tables.end()) return status;
        release(**it);
        on.tables.erase(it);
        status = allocate(bytes, *table);
    }
    use = BatchUse(table);
    on.tables.push_back(std::move(table));
    return success;
}

Status BatchStore::upload(Device &device, gpuStream_t stream, LaunchMode mode,
                          const TableBuilder &builder, const void *kernel, uint64_t identity,
                          const BatchUse &use) {
    BatchTable &table = *use.table_;
    table.lists_ = builder.lists();
    table.sections_ = builder.sections();
    table.kernel_ = kernel;
    table.surely_uploaded_ = mode != LaunchMode::now;
    builder.write(table.pinned_);
    const gpuStream_t upload = mode == LaunchMode::now ? stream : device.upload_stream();
    UCD_TRY(check(
        gpuMemcpyAsync(table.memory_, table.pinned_, builder.bytes(), gpuMemcpyDefault, upload),
        "uploading a batch"));
    Status status = check(gpuEventRecord(table.uploaded_, upload), "recording an event");
    if (status.ok() && mode != LaunchMode::now)
        status = check(gpuEventSynchronize(table.uploaded_), "uploading a batch");
    if (!status.ok()) {
        ++table.uses_; // never reused: the copy may still read it at any time
        return status;
    }
    const std::lock_guard lock(mutex_);
    table.identity_ = identity;
    table.used_at_ = ++devices_[static_cast<std::size_t>(device.index())].uses;
    return success;
}

void BatchStore::close(const Device &device) {
    const std::lock_guard lock(mutex_);
    OnDevice &on = devices_[static_cast<std::size_t>(device.index())];
    for (const auto &table : on.tables) release(*table);
    on.tables.clear();
}

} // namespace ucd::UCD_GPU
