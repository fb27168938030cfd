#include "runtime/device.h"

#include "runtime/batch_tables.h"
#include "runtime/check.h"
#include "runtime/device_lists.h"
#include "runtime/graph_keeps.h"

namespace ucd::UCD_GPU {

Stores::Stores()
    : lists(std::make_shared<ListStore>()), tables(std::make_unique<BatchStore>()),
      graphs(std::make_shared<GraphKeeps>()) {}
Stores::~Stores() = default;

Status Device::open(int index, const Stores &stores, std::unique_ptr<Device> &device) {
    std::unique_ptr<Device> made(new Device(index, stores));
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
    const CurrentDevice current(index_);
    lanes_.reset();
    events_.reset();
    if (upload_ != nullptr) (void)gpuStreamDestroy(upload_);
}

OpenDevices::~OpenDevices() {
    stores_.graphs->close();
    for (const auto &device : devices_) {
        if (device == nullptr) continue;
        const CurrentDevice current(device->index());
        stores_.lists->close(*device);
        stores_.tables->close(*device);
    }
}

Status OpenDevices::open_first(int index, Device *&device) {
    const auto number = static_cast<std::size_t>(index);
    const std::lock_guard lock(mutex_);
    if (devices_[number] == nullptr) UCD_TRY(Device::open(index, stores_, devices_[number]));
    device = devices_[number].get();
    opened_[number].store(device, std::memory_order_release);
    return success;
}

} // namespace ucd::UCD_GPU
