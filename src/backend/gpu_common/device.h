// A device in use: its streams and a pool of events. Made at the first work for it.
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

    // For work that is ordered after nothing: they take turns.
    gpuStream_t stream() {
        return streams_[turn_.fetch_add(1, std::memory_order_relaxed) % stream_count];
    }
    gpuStream_t upload_stream() const { return upload_; }

    Status take_event(gpuEvent_t &event);
    void give_back(gpuEvent_t event);

private:
    static constexpr unsigned stream_count = 4;
    explicit Device(int index) : index_(index) {}

    const int index_;
    gpuStream_t streams_[stream_count] = {};
    gpuStream_t upload_ = nullptr;
    std::atomic<unsigned> turn_{0};
    std::mutex mutex_;
    std::vector<gpuEvent_t> events_;
};

} // namespace ucd::UCD_GPU
