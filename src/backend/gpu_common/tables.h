// The lists of plans in device memory: uploaded at first use, kept as long as the plan, and given
// up earlier if memory runs out. The store outlives backends, because plans may: a table that went
// with its backend is uploaded again.
#pragma once

#include "device.h"

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <vector>

namespace ucd::UCD_GPU {

// Memory on a device, by its size. An entry moves from one owner to the next as a node: what is
// given up is noted down without an allocation, which could fail.
using ListMemory = std::multimap<std::size_t, char *>;

// One plan's lists, and where they are on each device.
class Tables {
public:
    explicit Tables(std::vector<char> image) : image_(std::move(image)) {}
    ~Tables();
    Tables(const Tables &) = delete;
    Tables &operator=(const Tables &) = delete;

    std::size_t bytes() const { return image_.size(); }

private:
    friend class TableStore;
    struct Copy {
        ListMemory::node_type held;    // empty: not on this device
        gpuEvent_t uploaded = nullptr; // null: surely there
        unsigned uses = 0;             // work under way
        bool stays = false;            // for graphs, which nobody hears of any more
        std::list<Tables *>::iterator age;
    };
    const std::vector<char> image_;
    std::array<Copy, max_devices> copies_;
};

// Where tables were on a device.
struct TablesAt {
    Tables *tables;
    const char *memory;
};

// That tables are needed by work under way.
class TableUse {
public:
    TableUse() = default;
    TableUse(Tables *tables, int device) : tables_(tables), device_(device) {}
    TableUse(TableUse &&other) noexcept : tables_(other.tables_), device_(other.device_) {
        other.tables_ = nullptr;
    }
    TableUse &operator=(TableUse &&other) noexcept {
        std::swap(tables_, other.tables_);
        std::swap(device_, other.device_);
        return *this;
    }
    ~TableUse();

private:
    Tables *tables_ = nullptr;
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

class TableStore {
public:
    // Never destroyed.
    static TableStore &instance();

    // The tables' address on the device, for work that comes next in the stream. The device is
    // current. May allocate, and evict what is not in use; waits for nothing.
    Status use(Tables &tables, Device &device, gpuStream_t stream, LaunchMode mode,
               const char *&memory, TableUse &use);
    // Uploads them, waits until they are there, and lets them stay.
    Status prepare(Tables &tables, Device &device);
    // Gives all memory of a device back to the driver. No work is under way.
    void close(Device &device);

    void end_use(Tables &tables, int device);
    void forget(Tables &tables);

private:
    struct OnDevice {
        std::list<Tables *> by_age; // the least recently used first
        ListMemory unused;          // memory without a table
        bool open = false;
    };
    Status upload(Tables &tables, Device &device);
    Status allocate(std::size_t bytes, OnDevice &on, Device &device, ListMemory &held);
    bool evict_one(OnDevice &on, Device &device);

    std::mutex mutex_;
    std::array<OnDevice, max_devices> devices_;
};

} // namespace ucd::UCD_GPU
