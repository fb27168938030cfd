// Memory for the tables and lists of single launches: on the device, and pinned on the host for
// uploads. After a launch, the memory stays for the next one. Each backend has a store. What is in
// use when it ends, such as a prepared launch's memory, is freed after its use.
#pragma once

#include "runtime/device.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace ucd::UCD_GPU {

// Memory for any table up to the capacity.
class BatchTable {
public:
    ~BatchTable();

private:
    friend class BatchStore;
    friend class BatchUse;
    void *memory_ = nullptr, *pinned_ = nullptr;
    std::size_t capacity_ = 0;

    std::atomic<unsigned> uses_{0}; // the number of launches in progress that use it
    uint64_t used_at_ = 0;
};

// Keeps a table as long as a launch needs it.
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
    void *memory() const { return table_->memory_; }
    // The host memory that the table is written to and uploaded from.
    char *pinned() const { return static_cast<char *>(table_->pinned_); }
    std::size_t capacity() const { return table_->capacity_; }
    explicit operator bool() const { return table_ != nullptr; }

private:
    friend class BatchStore;
    std::shared_ptr<BatchTable> table_;
};

class BatchStore {
public:
    // Takes memory for a table of this size. The device must be current.
    Status take(const Device &device, std::size_t bytes, BatchUse &use);

    // Frees a table that is not in use, if there is one; the device must be current. Returns
    // whether it did.
    bool free_some(const Device &device);

    // Frees all memory of a device. No work may be in progress.
    void close(const Device &device);

private:
    struct TablesOnDevice {
        std::vector<std::shared_ptr<BatchTable>> tables;
        uint64_t uses = 0;
    };
    Status take_or_allocate(const Device &device, std::size_t bytes, BatchUse &use);
    static bool take_idle(TablesOnDevice &on, std::size_t bytes, BatchUse &use);

    std::mutex mutex_;
    std::array<TablesOnDevice, max_devices> devices_;
};

} // namespace ucd::UCD_GPU
