// A device in use, with the lanes and events that launches need, for each thread. Made at the first
// launch on the device.
#pragma once

#include "per_thread.h"
#include "runtime/driver.h"
#include "runtime/events.h"
#include "runtime/lanes.h"

#include <memory>

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

} // namespace ucd::UCD_GPU
