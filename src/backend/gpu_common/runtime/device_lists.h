// The lists of plans in device memory: uploaded at first use, kept as long as the plan, and evicted
// if memory runs out. The store outlives backends, because plans may: lists whose memory was freed
// with a backend are uploaded again.
#pragma once

#include "runtime/device.h"

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <span>
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
        ListMemory::node_type held;    // empty: not on this device
        gpuEvent_t uploaded = nullptr; // null: surely there
        unsigned uses = 0;             // work under way
        bool stays = false;            // never evicted: a graph may use it without our knowledge
        std::list<DeviceLists *>::iterator age;
    };
    const std::span<const char> bytes_;
    std::array<Copy, max_devices> copies_;
};

// Where lists were on a device.
struct ListsAt {
    DeviceLists *lists;
    uint64_t address;
};

// Keeps lists on a device while work under way needs them.
class ListUse {
public:
    ListUse() = default;
    ListUse(DeviceLists *lists, int device) : lists_(lists), device_(device) {}
    ListUse(ListUse &&other) noexcept : lists_(other.lists_), device_(other.device_) {
        other.lists_ = nullptr;
    }
    ListUse &operator=(ListUse &&other) noexcept {
        std::swap(lists_, other.lists_);
        std::swap(device_, other.device_);
        return *this;
    }
    ~ListUse();

private:
    DeviceLists *lists_ = nullptr;
    int device_ = 0;
};

enum class LaunchMode : uint8_t {
    now,
    capture, // into a graph: nothing can be uploaded on the way
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
    // current. May allocate, and evict what is not in use; waits for nothing. Called by
    // Submission::use() only.
    Status use(DeviceLists &lists, Device &device, gpuStream_t stream, LaunchMode mode,
               uint64_t &address, ListUse &use);
    // Uploads them, waits until they are there, and lets them stay.
    Status prepare(DeviceLists &lists, Device &device);
    // Gives all memory of a device back to the driver. No work is under way.
    void close(Device &device);

    void end_use(DeviceLists &lists, int device);
    void forget(DeviceLists &lists);

private:
    struct OnDevice {
        std::list<DeviceLists *> by_age; // the least recently used first
        ListMemory unused;               // memory without lists
        bool open = false;
    };
    Status upload(DeviceLists &lists, Device &device);
    Status allocate(std::size_t bytes, OnDevice &on, Device &device, ListMemory &held);
    bool evict_one(OnDevice &on, Device &device);

    std::mutex mutex_;
    std::array<OnDevice, max_devices> devices_;
};

} // namespace ucd::UCD_GPU
