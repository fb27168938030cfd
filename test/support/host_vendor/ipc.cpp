// Device memory for other processes: see mock::share.
#include "support/host_vendor/state.h"
#include "vendor.h"

#include "support/mock_driver.h"

#include <cstring>

using namespace ucd::hostgpu;

gpuError_t gpuIpcGetMemHandle(gpuIpcMemHandle_t *handle, void *memory) {
    mock::Shared shared;
    static_assert(sizeof shared <= sizeof *handle);
    if (is_failing_one(mock::knobs.failing_export)) return gpuErrorRefused;
    if (!mock::share(memory, shared)) return gpuErrorInvalidHandle;
    ++mock::counts.exports;
    *handle = {};
    std::memcpy(handle->bytes, &shared, sizeof shared);
    return gpuSuccess;
}

gpuError_t gpuIpcOpenMemHandle(void **memory, gpuIpcMemHandle_t handle, unsigned) {
    if (is_failing_one(mock::knobs.failing_open)) return gpuErrorRefused;
    mock::Shared shared;
    std::memcpy(&shared, handle.bytes, sizeof shared);
    if (!mock::reaches(current_device, ucd::MemoryKind::device, shared.device))
        return gpuErrorInvalidHandle;
    *memory = mock::open_shared(shared);
    if (*memory == nullptr) return gpuErrorInvalidHandle;
    ++mock::counts.opens;
    ++mock::counts.live_opens;
    return gpuSuccess;
}

gpuError_t gpuIpcCloseMemHandle(void *memory) {
    mock::release(memory);
    --mock::counts.live_opens;
    return gpuSuccess;
}
