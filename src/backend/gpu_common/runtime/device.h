// A device in use: pools of streams and events. Made at the first launch on it.
#pragma once

#include "runtime/driver.h"

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

    // A stream for one launch alone: the end of the stream is the end of that launch. Null if all
    // are in use.
    gpuStream_t take_stream();
    void give_back(gpuStream_t stream);

    // For launches that get no stream of their own: an event marks their end.
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
