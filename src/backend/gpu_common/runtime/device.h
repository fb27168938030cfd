// Devices in use, with the lanes and events that launches need, for each thread.
#pragma once

#include "per_thread.h"
#include "runtime/captures.h"
#include "runtime/driver.h"
#include "runtime/events.h"
#include "runtime/graph_keeps.h"
#include "runtime/lanes.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

namespace ucd::UCD_GPU {

inline constexpr int max_devices = 32;

class ListStore;
class BatchStore;

// Holds what a backend keeps for its launches. Several copies of libucd may use one plugin at once,
// so each backend has its own. Plans may outlive the backend, and graphs, so they own a share.
struct Stores {
    std::shared_ptr<ListStore> lists;
    std::unique_ptr<BatchStore> tables;
    std::shared_ptr<GraphKeeps> graphs;

    Stores();
    ~Stores();
};

class Device {
public:
    // The calling thread must have made the device current.
    static Status open(int index, const Stores &stores, std::unique_ptr<Device> &device);
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    int index() const { return index_; }

    uint32_t processors() const { return processors_; }

    // Begins one launch of this thread; `bytes` is about the number of bytes that it moves. The
    // device must be current.
    Status begin_launch(uint64_t bytes, LaunchTurn &turn) {
        return turn.begin(lanes_->own(), priority_, bytes);
    }

    gpuStream_t upload_stream() const { return upload_; }

    Status take_event(PooledEvent &event) { return events_->own().take(event); }

    // Those of the backend, for all of its devices.
    const Stores &stores() const { return stores_; }
    ListStore &lists() const { return *stores_.lists; }
    BatchStore &tables() const { return *stores_.tables; }

private:
    Device(int index, const Stores &stores) : index_(index), stores_(stores) {}

    const int index_;
    const Stores &stores_;
    uint32_t processors_ = 0;
    int priority_ = 0;
    gpuStream_t upload_ = nullptr;
    // Must be destroyed while the device is current.
    std::unique_ptr<PerThread<LaneGroup>> lanes_;
    std::unique_ptr<PerThread<EventPool>> events_;
};

// The devices of a backend. Each is opened at its first use.
class OpenDevices {
public:
    // No work may be in progress.
    ~OpenDevices();

    // The calling thread must have made the device current.
    Status open(int index, Device *&device) {
        device = opened_[static_cast<std::size_t>(index)].load(std::memory_order_acquire);
        return device != nullptr ? success : open_first(index, device);
    }

    const Stores &stores() const { return stores_; }

private:
    Status open_first(int index, Device *&device);

    const Stores stores_;
    std::mutex mutex_;
    std::array<std::unique_ptr<Device>, max_devices> devices_;
    std::array<std::atomic<Device *>, max_devices> opened_ = {};
};

// While this lives, a device is open, and current in this thread. Each call that may take memory of
// lists or tables begins with one, and so frees what destroyed graphs have kept.
class OnDevice {
public:
    OnDevice(OpenDevices &devices, int index) : current_(index), status(current_.status) {
        if (status.ok()) status = devices.open(index, device_);
        devices.stores().graphs->clear();
    }
    Device &device() const { return *device_; }

private:
    const CurrentDevice current_;
    Device *device_ = nullptr;

public:
    Status status; // of making the device current, and opening it
};

} // namespace ucd::UCD_GPU
