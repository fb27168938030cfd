// Memory for the tables of single launches, on the device and where they are uploaded from. It
// stays after its launch is done, for the next one. The store outlives backends, because what is
// under way at their end may let go of it later.
#pragma once

#include "runtime/device.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace ucd::UCD_GPU {

class BatchTable {
private:
    friend class BatchStore;
    friend class BatchUse;
    // Memory of the store, for any table up to the capacity.
    char *memory_ = nullptr, *pinned_ = nullptr;
    std::size_t capacity_ = 0;

    std::atomic<unsigned> uses_{0}; // work under way
    uint64_t used_at_ = 0;
};

// Keeps it while a launch needs it.
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
    char *memory() const { return table_->memory_; }
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

    // Memory for a table of so many bytes. The device is current.
    Status take(const Device &device, std::size_t bytes, BatchUse &use);

    // Gives all memory of a device back to the driver. No work is under way.
    void close(const Device &device);

private:
    struct OnDevice {
        std::vector<std::shared_ptr<BatchTable>> tables;
        uint64_t uses = 0;
    };
    static bool take_idle(OnDevice &on, std::size_t bytes, BatchUse &use);
    static Status allocate(std::size_t bytes, BatchTable &table);
    static void release(BatchTable &table);

    std::mutex mutex_;
    std::array<OnDevice, max_devices> devices_;
};

} // namespace ucd::UCD_GPU
