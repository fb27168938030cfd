// What the files with HIP's calls have in common.
#pragma once

#include <hip/hip_runtime_api.h>

#include "support/fake_device/fake_driver.h"
#include "support/host_vendor/vendor.h"
#include "support/spared_allocations.hpp"

namespace hip_on_threads {

// The end of a call, by its outcome.
hipError_t done(hipError_t error);
hipError_t done(gpuError_t error);

// The stream, or the default one of the current device.
mock::Stream *stream_of(hipStream_t stream);

} // namespace hip_on_threads
