#include "runtime/device.h"

#include "runtime/check.h"

namespace ucd::UCD_GPU {

Status Device::open(int index, std::unique_ptr<Device> &device) {
    std::unique_ptr<Device> made(new Device(index));
    int processors = 0;
    UCD_TRY(check(gpuDeviceGetAttribute(&processors, gpuDevAttrMultiProcessorCount, index),
                  "asking for the processors"));
    made->processors_ = static_cast<uint32_t>(processors);
    int lowest = 0, highest = 0;
    UCD_TRY(check(gpuDeviceGetStreamPriorityRange(&lowest, &highest), "asking for priorities"));
    // Packs are short, and their latency matters: they get the highest priority.
    const auto make = [&](gpuStream_t &stream) {
        return check(gpuStreamCreateWithPriority(&stream, gpuStreamNonBlocking, highest),
                     "creating a stream");
    };
    made->streams_.reserve(stream_count);
    for (unsigned i = 0; i < stream_count; ++i) {
        gpuStream_t stream;
        UCD_TRY(make(stream));
        made->streams_.push_back(stream);
    }
    UCD_TRY(make(made->shared_));
    UCD_TRY(make(made->upload_));
    device = std::move(made);
    return success;
}

// No work is outstanding. Failures are ignored: at exit, the driver may have been unloaded before.
Device::~Device() {
    const driver::Current current(index_);
    for (const gpuEvent_t event : events_) (void)gpuEventDestroy(event);
    for (const gpuStream_t stream : streams_) (void)gpuStreamDestroy(stream);
    for (const gpuStream_t stream : {shared_, upload_})
        if (stream != nullptr) (void)gpuStreamDestroy(stream);
}

gpuStream_t Device::take_stream() {
    const std::lock_guard lock(mutex_);
    if (streams_.empty()) return nullptr;
    const gpuStream_t stream = streams_.back();
    streams_.pop_back();
    return stream;
}

void Device::give_back(gpuStream_t stream) {
    const std::lock_guard lock(mutex_);
    streams_.push_back(stream);
}

Status Device::take_event(gpuEvent_t &event) {
    const std::lock_guard lock(mutex_);
    if (!events_.empty()) {
        event = events_.back();
        events_.pop_back();
        return success;
    }
    events_.reserve(events_made_ + 1);
    UCD_TRY(check(gpuEventCreateWithFlags(&event, gpuEventDisableTiming), "creating an event"));
    ++events_made_;
    return success;
}

void Device::give_back(gpuEvent_t event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
}

} // namespace ucd::UCD_GPU
