// A function of the libucd whose devices are threads, for programs that count kernels.

#include "support/host_vendor/capture.h"

// The kernels since the last call.
extern "C" [[gnu::visibility("default")]] int ucd_test_kernels_launched() {
    return static_cast<int>(ucd::hostgpu::kernels_launched().size());
}
