// Devices in use, with the lanes and events that launches need, for each thread.
#pragma once

#include "per_thread.h"
#include "runtime/captures.h"
#include "runtime/driver.h"
#include "runtime/events.h"
#include "runtime/lanes.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

namespace ucd::UCD_GPU {

inline constexpr int max_devices = 32;

class Device {
public:
    // The calling thread must have made the device current.
    static Status open(int index, std::unique_ptr<Device> &device);
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

private:
    explicit Device(int index) : index_(index) {}

    const int index_;
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

private:
    Status open_first(int index, Device *&device);

    std::mutex mutex_;
    std::array<std::unique_ptr<Device>, max_devices> devices_;
    std::array<std::atomic<Device *>, max_devices> opened_ = {};
};

// While this lives, a device is open, and current in this thread.
class OnDevice {
public:
    OnDevice(OpenDevices &devices, int index) : current_(index), status(current_.status) {
        if (status.ok()) status = devices.open(index, device_);
    }
    Device &device() const { return *device_; }

private:
    const driver::Current current_;
    const BesideCaptures beside_;
    Device *device_ = nullptr;

public:
    Status status; // of making the device current, and opening it
};

} // namespace ucd::UCD_GPU
