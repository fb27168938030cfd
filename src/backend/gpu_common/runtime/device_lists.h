// The lists of plans in device memory: uploaded at first use, kept as long as the plan, and evicted
// if memory runs out. The store outlives backends, because plans may: lists whose memory was freed
// with a backend are uploaded again.
#pragma once

#include "runtime/device.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace ucd::UCD_GPU {

// Memory on a device, by its size. An entry moves from one owner to the next as a node: what is
// given up is noted down without an allocation, which could fail.
using ListMemory = std::multimap<std::size_t, char *>;

// Lists of a plan, and where they are on each device.
class DeviceLists {
public:
    // The bytes live longer.
    explicit DeviceLists(std::span<const char> bytes) : bytes_(bytes) {}
    ~DeviceLists();
    DeviceLists(const DeviceLists &) = delete;
    DeviceLists &operator=(const DeviceLists &) = delete;

private:
    friend class ListStore;
    struct Copy {
        // What launches look at without the store's lock.
        std::atomic<uint64_t> ready{0};      // the address, if the lists have surely arrived there
        std::atomic<unsigned> uses{0};       // work under way, and calls that are asking
        std::atomic<bool> stays{false};      // never evicted: a graph may use it unknown to us
        std::atomic<bool> used_lately{true}; // since eviction has last come by
        // The store's.
        ListMemory::node_type held; // empty: not on this device
        PooledEvent uploaded;       // none: surely there
        std::list<DeviceLists *>::iterator age;
    };
    const std::span<const char> bytes_;
    std::array<Copy, max_devices> copies_;
};

// Keeps lists on a device while work under way needs them.
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
    std::atomic<unsigned> *uses_ = nullptr; // of a copy
};

enum class LaunchMode : uint8_t {
    now,
    capture, // into a graph: nothing can be uploaded on the way
    prepare, // for later: what is uploaded has arrived when the call returns
};

inline Status not_prepared() {
    return fail(UCD_ERR__NOT_SUPPORTED,
                "the stream is being captured, and ucd_prepare has not been called for the type");
}

class ListStore {
public:
    // Never destroyed.
    static ListStore &instance();

    // The lists' address on the device, for work that comes next in the stream. The device is
    // current. May allocate, and evict what is not in use; waits for nothing, unless a launch is
    // prepared. Takes no lock if the lists are there. Called by Submission::use() only.
    Status use(DeviceLists &lists, Device &device, gpuStream_t stream, LaunchMode mode,
               uint64_t &address, ListUse &use);
    // Uploads them, waits until they are there, and lets them stay.
    Status prepare(DeviceLists &lists, Device &device);
    // Gives all memory of a device back to the driver. No work is under way.
    void close(Device &device);

    void forget(DeviceLists &lists);

private:
    struct OnDevice {
        std::list<DeviceLists *> by_age; // what eviction looks at first comes first
        ListMemory unused;               // memory without lists
        bool open = false;
    };
    Status upload_or_find(DeviceLists &lists, Device &device, gpuStream_t stream, LaunchMode mode,
                          uint64_t &address);
    Status upload(DeviceLists &lists, Device &device);
    Status allocate(std::size_t bytes, OnDevice &on, Device &device, ListMemory &held);
    static bool evict_one(OnDevice &on, const Device &device);

    std::mutex mutex_;
    std::array<OnDevice, max_devices> devices_;
};

} // namespace ucd::UCD_GPU
