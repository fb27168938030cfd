// Handling of streams that are being captured into graphs, if the vendor's runtime supports that.
#pragma once

#include "runtime/check.h"
#include "runtime/driver.h"
#include "tuning.h"

namespace ucd::UCD_GPU {

// While this lives, the thread may make calls that are forbidden while another thread captures a
// graph, but are harmless to it.
class BesideCaptures {
public:
    BesideCaptures() { exchange(); }
    ~BesideCaptures() { exchange(); }
    BesideCaptures(const BesideCaptures &) = delete;
    BesideCaptures &operator=(const BesideCaptures &) = delete;

private:
    // Failures are ignored: without a driver there is no capture either.
    void exchange() {
        if constexpr (captures_streams) (void)gpuThreadExchangeStreamCaptureMode(&mode_);
    }
    gpuStreamCaptureMode mode_ = gpuStreamCaptureModeRelaxed;
};

// While this lives, a device is current in this thread, beside captures. All code of gpu_common
// makes devices current by this class, so that no call that needs one ends a capture.
class CurrentDevice {
public:
    explicit CurrentDevice(int device) : current_(device), status(current_.status) {}

private:
    const driver::Current current_;
    const BesideCaptures beside_;

public:
    const Status status; // of making the device current
};

inline Status is_captured(gpuStream_t stream, bool &captured) {
    captured = false;
    if constexpr (captures_streams) {
        gpuStreamCaptureStatus status;
        UCD_TRY(check(gpuStreamIsCapturing(stream, &status), "looking at the stream"));
        captured = status != gpuStreamCaptureStatusNone;
    }
    return success;
}

} // namespace ucd::UCD_GPU
