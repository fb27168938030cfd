// The lists of plans in device memory: uploaded at first use, kept as long as the plan, and evicted
// if memory runs out. Each backend has a store. Plans may outlive the backend, and be used with a
// later one of the same libucd: then their lists are uploaded again.
#pragma once

#include "runtime/device.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace ucd::UCD_GPU {

// Blocks of device memory, by size. Map nodes are moved between owners, so that releasing a block
// needs no allocation, which could fail.
using ListMemory = std::multimap<std::size_t, char *>;

// The lists of a plan, and their copy on each device.
class DeviceLists {
public:
    // The bytes must outlive this object.
    explicit DeviceLists(std::span<const char> bytes) : bytes_(bytes) {}
    ~DeviceLists();
    DeviceLists(const DeviceLists &) = delete;
    DeviceLists &operator=(const DeviceLists &) = delete;

private:
    friend class ListStore;
    struct ListCopy {
        // Launches read these without the store's lock.
        std::atomic<uint64_t> ready{0};      // the address, once the upload is known to be complete
        std::atomic<unsigned> uses{0};       // work in progress, and calls of use()
        std::atomic<bool> stays{false};      // never evicted, because graphs may use it at any time
        std::atomic<bool> used_lately{true}; // since the last eviction pass
        // Guarded by the store's lock.
        ListMemory::node_type held; // empty if not on this device
        PooledEvent uploaded;       // empty if the upload is complete
        std::list<DeviceLists *>::iterator age;
    };
    const std::span<const char> bytes_;
    std::array<ListCopy, max_devices> copies_;
    // It is of the backend that has uploaded the lists last, which alone has copies. Its lock
    // guards it.
    std::shared_ptr<ListStore> store_;
};

// Keeps lists on a device while work in progress needs them.
class ListUse {
public:
    ListUse() = default;
    explicit ListUse(std::atomic<unsigned> &uses) : uses_(&uses) { ++uses; }
    ListUse(ListUse &&other) noexcept : uses_(std::exchange(other.uses_, nullptr)) {}
    ListUse &operator=(ListUse &&other) noexcept {
        std::swap(uses_, other.uses_);
        return *this;
    }
    ~ListUse() {
        if (uses_ != nullptr) --*uses_;
    }

private:
    std::atomic<unsigned> *uses_ = nullptr; // ListCopy::uses
};

// Where the work of a launch goes, and whether it has begun.
enum class LaunchState : uint8_t {
    empty,    // into a stream, which has no work of the launch yet
    started,  // into a stream, which may have work of the launch
    captured, // into a graph, which may use lists at any time
    recorded, // into a prepared launch: uploads are complete when the call returns
};

class ListStore {
public:
    // Sets the lists' address on the device, valid for work that follows in the stream. The device
    // need not be current. May allocate, and evict lists that are not in use; does not wait, unless
    // a launch is recorded, or captured with lists that were not prepared. Takes no lock if the
    // lists are on the device. Called by LaunchTarget::use() only.
    Status use(DeviceLists &lists, Device &device, gpuStream_t stream, LaunchState state,
               uint64_t &address, ListUse &use);
    // Uploads the lists, waits for the upload, and excludes them from eviction.
    Status prepare(DeviceLists &lists, Device &device);
    // Frees memory of lists that are not in use, if there is any; the device must be current.
    // `freed` says whether it did. What the driver does not free is kept.
    Status free_some(const Device &device, bool &freed);
    // Returns all memory of a device to the driver. No work may be in progress.
    void close(Device &device);

    void forget(DeviceLists &lists);

private:
    struct ListsOnDevice {
        std::list<DeviceLists *> by_age; // in the order in which eviction considers them
        ListMemory unused;               // blocks without lists
    };
    Status upload_or_find(DeviceLists &lists, Device &device, gpuStream_t stream, LaunchState state,
                          uint64_t &address);
    Status upload(DeviceLists &lists, Device &device);
    Status allocate(std::size_t bytes, ListsOnDevice &on, Device &device, ListMemory &held);
    static bool evict_one(ListsOnDevice &on, const Device &device);

    std::mutex mutex_;
    std::array<ListsOnDevice, max_devices> devices_;
};

} // namespace ucd::UCD_GPU
