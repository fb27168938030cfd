// Converts return codes of the runtime to statuses.
#pragma once

#include "status.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

// `what` names the action for the message, such as "allocating device memory".
[[nodiscard]] inline Status check(gpuError_t error, const char *what) {
    if (error == gpuSuccess) [[likely]]
        return success;
    (void)gpuGetLastError(); // clears the error, which a later call would return
    const int code = error == gpuErrorMemoryAllocation ? UCD_ERR__OUT_OF_MEM
                     : error == gpuErrorNotSupported   ? UCD_ERR__NOT_SUPPORTED
                                                       : UCD_ERR__DEVICE;
    return fail(code, "%s: %s failed: %s", runtime_name, what, gpuGetErrorString(error));
}

// Calls undo() if the status is a failure, which stays the last error.
template <class Undo>
Status undone(const Status &status, const Undo &undo) {
    if (status.ok()) return status;
    const LastError error = last_error();
    undo();
    last_error() = error;
    return status;
}

} // namespace ucd::UCD_GPU
