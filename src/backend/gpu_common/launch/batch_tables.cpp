#include "launch/batch_tables.h"

#include "runtime/check.h"

#include <algorithm>
#include <bit>

namespace ucd::UCD_GPU {

bool BatchTable::may_be_of(const JobList &list) const {
    if (list.identity != 0) return identity_ == list.identity;
    const std::span<const Job> jobs = list.jobs;
    return keys_.size() == jobs.size() && direction_ == jobs.front().direction &&
           op_ == jobs.front().op && keys_.front() == BatchKey(jobs.front()) &&
           keys_.back() == BatchKey(jobs.back());
}

bool BatchTable::is_of(const JobList &list) const {
    if (list.identity != 0) return true;
    return std::equal(keys_.begin(), keys_.end(), list.jobs.begin(),
                      [](const BatchKey &key, const Job &job) { return key == BatchKey(job); });
}

BatchStore &BatchStore::instance() {
    static BatchStore *store = new BatchStore; // graphs may go at exit
    return *store;
}

BatchUse BatchStore::find(const Device &device, const JobList &list) {
    // Compared outside the lock, all but their ends: there may be many members.
    std::vector<BatchUse> candidates;
    {
        const std::lock_guard lock(mutex_);
        OnDevice &on = devices_[static_cast<std::size_t>(device.index())];
        for (const auto &table : on.tables) {
            if (table->outdated_ || !table->may_be_of(list)) continue;
            // Waiting for the upload would mean waiting for all that is before it in its stream.
            if (!table->surely_uploaded_) {
                if (gpuEventQuery(table->uploaded_) != gpuSuccess) continue;
                table->surely_uploaded_ = true;
            }
            candidates.emplace_back(table);
        }
    }
    for (BatchUse &use : candidates) {
        if (!use->is_of(list)) continue;
        const std::lock_guard lock(mutex_);
        use.table_->used_at_ = ++devices_[static_cast<std::size_t>(device.index())].uses;
        return std::move(use);
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

bool BatchStore::take_idle(OnDevice &on, std::size_t bytes, BatchUse &use) {
    std::shared_ptr<BatchTable> oldest;
    for (const auto &table : on.tables)
        if (is_idle(table->uses_) && table->capacity_ >= bytes &&
            (oldest == nullptr || table->used_at_ < oldest->used_at_))
            oldest = table;
    if (oldest == nullptr) return false;
    oldest->keys_.clear();
    oldest->identity_ = 0;
    oldest->outdated_ = false;
    use = BatchUse(std::move(oldest));
    return true;
}

// Memory is given back as late as possible, since that waits for the device.
Status BatchStore::take(OnDevice &on, std::size_t bytes, BatchUse &use) {
    constexpr std::size_t remembered = 8; // batches
    if (on.tables.size() >= remembered && take_idle(on, bytes, use)) return success;
    on.tables.reserve(on.tables.size() + 1);
    auto table = std::make_shared<BatchTable>();
    Status status = allocate(bytes, *table);
    while (!status.ok()) {
        if (status.code() != UCD_ERR__OUT_OF_MEM) return status;
        if (take_idle(on, bytes, use)) return success;
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

Status BatchStore::make(Device &device, gpuStream_t stream, LaunchMode mode,
                        const TableBuilder &builder, const void *kernel, const JobList &list,
                        BatchUse &use) {
    OnDevice &on = devices_[static_cast<std::size_t>(device.index())];
    BatchUse taken;
    {
        const std::lock_guard lock(mutex_);
        UCD_TRY(take(on, builder.bytes(), taken));
    }
    BatchTable &table = *taken.table_;
    table.lists_ = builder.lists();
    table.sections_ = builder.sections();
    table.kernel_ = kernel;
    if (!list.jobs.empty()) {
        table.direction_ = list.jobs.front().direction;
        table.op_ = list.jobs.front().op;
    }
    table.surely_uploaded_ = mode == LaunchMode::capture;
    table.coming_keys_.clear();
    if (list.identity == 0) {
        table.coming_keys_.reserve(list.jobs.size());
        for (const Job &job : list.jobs) table.coming_keys_.emplace_back(job);
    }
    builder.write(table.pinned_);
    const gpuStream_t upload = mode == LaunchMode::capture ? device.upload_stream() : stream;
    UCD_TRY(check(
        gpuMemcpyAsync(table.memory_, table.pinned_, builder.bytes(), gpuMemcpyDefault, upload),
        "uploading a batch"));
    Status status = check(gpuEventRecord(table.uploaded_, upload), "recording an event");
    if (status.ok() && mode == LaunchMode::capture)
        status = check(gpuEventSynchronize(table.uploaded_), "uploading a batch");
    if (!status.ok()) {
        ++table.uses_; // never reused: the copy may still read it at any time
        return status;
    }
    const std::lock_guard lock(mutex_);
    table.keys_.swap(table.coming_keys_);
    table.identity_ = list.identity;
    table.used_at_ = ++on.uses;
    use = std::move(taken);
    return success;
}

void BatchStore::close(const Device &device) {
    const std::lock_guard lock(mutex_);
    OnDevice &on = devices_[static_cast<std::size_t>(device.index())];
    for (const auto &table : on.tables) release(*table);
    on.tables.clear();
}

} // namespace ucd::UCD_GPU
