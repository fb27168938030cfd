// What the host vendor's driver knows, which is what the mock's does.
#include "support/host_vendor/capture.h"
#include "support/host_vendor/state.h"
#include "vendor.h"

#include "runtime/driver.h"
#include "runtime/plain_copy.h"

#include "support/fake_device/fake_driver.h"
#include "support/spared_allocations.hpp"

#include <utility>
#include <vector>

namespace ucd::hostgpu {

std::atomic<int> plain_copy_calls{0};

gpuError_t copy_plain(gpuStream_t stream, std::span<const PlainCopy> copies, bool captured) {
    ++plain_copy_calls;
    if (captured != is_being_captured(*stream)) return gpuErrorRefused;
    return copy_each(stream, copies);
}

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

uint64_t identify(int device) {
    return mock::identity(device);
}

Status find(const void *address, MemoryLocation &location) {
    ++mock::counts.queries;
    (void)mock::find(address, location);
    return success;
}

bool has_element(Element) {
    return true;
}

bool has_access(int device, const MemoryLocation &location) {
    return mock::reaches(device, location.kind, location.device);
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

Status keep_with_graph(gpuStream_t stream, std::shared_ptr<void> what) {
    if (graphs_keep_nothing) return fail(UCD_ERR__NOT_SUPPORTED, "mock: graphs keep nothing");
    if (is_refused()) return fail(UCD_ERR__DEVICE, "mock: keeping memory with a graph was refused");
    keep_with_capture(*stream, std::move(what));
    return success;
}

namespace {
thread_local std::vector<int> pushed;
}

Status enter(const NativeStream &native, gpuStream_t &stream) {
    stream = static_cast<gpuStream_t>(native.native);
    return success;
}

Current::Current(int device) {
    if (device < 0 || device >= mock::device_count) {
        status = fail(UCD_ERR__DEVICE, "mock: there is no device %d", device);
        return;
    }
    pushed_ = device != current_device;
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
