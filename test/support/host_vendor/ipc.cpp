// Device memory for other processes: see mock::share.
#include "support/host_vendor/state.h"
#include "vendor.h"

#include "support/fake_device/fake_driver.h"
#include "support/spared_allocations.hpp"

#include <cstring>

#include <map>
#include <mutex>

using namespace ucd::hostgpu;

namespace {

// As drivers have it: what is where something was that is open here does not open, though that has
// gone. Here places are files' numbers.
struct Open {
    std::mutex mutex;
    std::map<void *, mock::Shared> by_address;

    bool is_in_the_way(const mock::Shared &shared) {
        for (const auto &[address, other] : by_address)
            if (other.process == shared.process && other.file == shared.file &&
                other.inode != shared.inode)
                return true;
        return false;
    }
};
// Never destroyed: memory may be closed by whatever goes last.
Open &opened() {
    static Open *o = new Open;
    return *o;
}

} // namespace

gpuError_t gpuIpcGetMemHandle(gpuIpcMemHandle_t *handle, void *memory) {
    mock::Shared shared;
    static_assert(sizeof shared <= sizeof *handle);
    if (is_failing_one(mock::knobs.failing_export) || is_refused()) return gpuErrorRefused;
    if (!mock::share(memory, shared)) return gpuErrorInvalidHandle;
    ++mock::counts.exports;
    *handle = {};
    std::memcpy(handle->bytes, &shared, sizeof shared);
    return gpuSuccess;
}

gpuError_t gpuIpcOpenMemHandle(void **memory, gpuIpcMemHandle_t handle, unsigned) {
    if (mock::knobs.failing_opens > 0) {
        --mock::knobs.failing_opens;
        return gpuErrorRefused;
    }
    if (is_refused()) return gpuErrorRefused;
    mock::Shared shared;
    std::memcpy(&shared, handle.bytes, sizeof shared);
    if (!mock::reaches(current_device, ucd::MemoryKind::device, shared.device))
        return gpuErrorInvalidHandle;
    const ucdtest::SpareAllocations spared;
    const std::lock_guard lock(opened().mutex);
    if (opened().is_in_the_way(shared)) return gpuErrorInvalidHandle;
    *memory = mock::open_shared(shared);
    if (*memory == nullptr) return gpuErrorInvalidHandle;
    opened().by_address[*memory] = shared;
    ++mock::counts.opens;
    ++mock::counts.live_opens;
    return gpuSuccess;
}

gpuError_t gpuIpcCloseMemHandle(void *memory) {
    {
        const std::lock_guard lock(opened().mutex);
        opened().by_address.erase(memory);
    }
    mock::release(memory);
    --mock::counts.live_opens;
    return gpuSuccess;
}
