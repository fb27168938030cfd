// A device in use: pools of streams and events. Made at the first work for it.
#pragma once

#include "driver.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace ucd::UCD_GPU {

inline constexpr int max_devices = 32;

class Device {
public:
    // The calling thread has made the device current.
    static Status open(int index, std::unique_ptr<Device> &device);
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    int index() const { return index_; }

    uint32_t processors() const { return processors_; }

    // A stream for one piece of work alone, whose end is then the work's; null if all are in use.
    gpuStream_t take_stream();
    void give_back(gpuStream_t stream);

    // For work that finds none: it needs an event to know its end by.
    gpuStream_t shared_stream() const { return shared_; }
    gpuStream_t upload_stream() const { return upload_; }

    Status take_event(gpuEvent_t &event);
    void give_back(gpuEvent_t event);

private:
    static constexpr unsigned stream_count = 16;
    explicit Device(int index) : index_(index) {}

    const int index_;
    uint32_t processors_ = 0;
    gpuStream_t shared_ = nullptr, upload_ = nullptr;
    std::mutex mutex_;
    std::vector<gpuStream_t> streams_; // free; has the capacity for all
    std::size_t events_made_ = 0;
    std::vector<gpuEvent_t> events_; // free; has the capacity for all
};

} // namespace ucd::UCD_GPU
