// The driver: devices, and which memory an address is in.
#include "runtime/driver.h"
#include "support/host_vendor/state.h"

#include "support/fake_device/fake_driver.h"
#include "support/spared_allocations.hpp"

#include <vector>

namespace ucd::hostgpu {
namespace driver {
namespace {

const BackendState everything{
    .available = true, .devices = mock::device_count, .version = "1", .reason = {}};

} // namespace

BackendState look() {
    return everything;
}

const BackendState &initialise() {
    return everything;
}

bool find(const void *address, MemoryLocation &place) {
    ++mock::counts.queries;
    return mock::find(address, place);
}

Status find_allocation(const void *address, void *&start, std::size_t &bytes) {
    mock::Allocation a;
    if (!mock::find(address, a)) return fail(UCD_ERR__DEVICE, "mock: %p is in no memory", address);
    start = a.address;
    bytes = a.bytes;
    return success;
}

Status find_device(gpuStream_t stream, int &device) {
    device = stream == nullptr ? current_device : stream->device();
    return success;
}

namespace {
thread_local std::vector<int> pushed;
}

Current::Current(int device) : pushed_(device != current_device) {
    if (!pushed_) return;
    const ucdtest::SpareAllocations spared;
    pushed.push_back(current_device);
    current_device = device;
}

Current::~Current() {
    if (!pushed_) return;
    current_device = pushed.back();
    pushed.pop_back();
}

} // namespace driver
} // namespace ucd::hostgpu
