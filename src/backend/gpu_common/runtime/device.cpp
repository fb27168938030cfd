#include "runtime/device.h"

#include "runtime/check.h"

namespace ucd::UCD_GPU {

Status Device::open(int index, std::unique_ptr<Device> &device) {
    std::unique_ptr<Device> made(new Device(index));
    int processors = 0, lowest = 0;
    UCD_TRY(check(gpuDeviceGetAttribute(&processors, gpuDevAttrMultiProcessorCount, index),
                  "asking for the processors"));
    made->processors_ = static_cast<uint32_t>(processors);
    // Packing kernels are short, and their latency matters, so their streams have the highest
    // priority.
    UCD_TRY(
        check(gpuDeviceGetStreamPriorityRange(&lowest, &made->priority_), "asking for priorities"));
    UCD_TRY(
        check(gpuStreamCreateWithPriority(&made->upload_, gpuStreamNonBlocking, made->priority_),
              "creating a stream"));
    made->lanes_ = std::make_unique<PerThread<LaneGroup>>();
    made->events_ = std::make_unique<PerThread<EventPool>>();
    device = std::move(made);
    return success;
}

// No work may be outstanding. Failures are ignored: at exit, the driver may already be unloaded.
Device::~Device() {
    const driver::Current current(index_);
    lanes_.reset();
    events_.reset();
    if (upload_ != nullptr) (void)gpuStreamDestroy(upload_);
}

} // namespace ucd::UCD_GPU
