// The tables of batches in device memory. They stay after their batch is done: if the next batch is
// the same, nothing is built or uploaded. The store outlives backends, because graphs
// may.
#pragma once

#include "launch/table_builder.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace ucd::UCD_GPU {

class BatchTable {
public:
    const char *memory() const { return memory_; }
    const BatchSections &sections() const { return sections_; }
    const std::vector<ListsAt> &lists() const { return lists_; }
    const void *kernel() const { return kernel_; }

private:
    friend class BatchStore;
    friend class BatchUse;
    // Memory of the store, for any table up to the capacity.
    char *memory_ = nullptr, *pinned_ = nullptr;
    std::size_t capacity_ = 0;
    gpuEvent_t uploaded_ = nullptr;
    bool surely_uploaded_ = false;

    std::atomic<unsigned> uses_{0}; // work under way, and graphs
    uint64_t used_at_ = 0;
    bool outdated_ = false; // lists have moved since
    uint64_t identity_ = 0; // of the list; 0: it is not found again
    std::vector<ListsAt> lists_;
    BatchSections sections_{};
    const void *kernel_ = nullptr; // that reads it
};

// Keeps a table while work under way or a graph needs it.
class BatchUse {
public:
    BatchUse() = default;
    explicit BatchUse(std::shared_ptr<BatchTable> table) : table_(std::move(table)) {
        ++table_->uses_;
    }
    BatchUse(BatchUse &&other) noexcept = default;
    BatchUse &operator=(BatchUse &&other) noexcept {
        std::swap(table_, other.table_);
        return *this;
    }
    ~BatchUse() {
        if (table_ != nullptr) --table_->uses_;
    }
    const BatchTable *operator->() const { return table_.get(); }
    // Host memory for the table, before it is uploaded.
    char *pinned() const { return table_->pinned_; }
    std::size_t capacity() const { return table_->capacity_; }
    explicit operator bool() const { return table_ != nullptr; }

private:
    friend class BatchStore;
    std::shared_ptr<BatchTable> table_;
};

class BatchStore {
public:
    // Never destroyed.
    static BatchStore &instance();

    // A table that has been made of the list with this identity, and has arrived on the device;
    // none is no failure.
    BatchUse find(const Device &device, uint64_t identity);

    // Memory for a table of so many bytes, for the list with this identity or, if that is 0, for
    // one that is not found again: then no other list is forgotten for it while there is memory.
    // The device is current.
    Status take(const Device &device, std::size_t bytes, uint64_t identity, BatchUse &use);

    // Makes the table that was built in memory with room for it. It is found by `identity`, unless
    // that is 0. The device is current. In a stream it arrives before what comes next there; for a
    // graph, or a prepared launch, it has arrived on return.
    Status upload(Device &device, gpuStream_t stream, LaunchMode mode, const TableBuilder &builder,
                  const void *kernel, uint64_t identity, const BatchUse &use);

    // To be called when lists that it refers to have moved: it is not found again.
    void forget(const BatchUse &use);

    // Gives all memory of a device back to the driver. No work is under way.
    void close(const Device &device);

private:
    struct OnDevice {
        std::vector<std::shared_ptr<BatchTable>> tables;
        uint64_t uses = 0;
    };
    static bool take_idle(OnDevice &on, std::size_t bytes, bool forget, BatchUse &use);
    static Status allocate(std::size_t bytes, BatchTable &table);
    static void release(BatchTable &table);

    std::mutex mutex_;
    std::array<OnDevice, max_devices> devices_;
};

} // namespace ucd::UCD_GPU
