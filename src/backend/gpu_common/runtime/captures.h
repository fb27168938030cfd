// Streams that are being captured into graphs, where the vendor's runtime has that.
#pragma once

#include "runtime/check.h"
#include "tuning.h"

namespace ucd::UCD_GPU {

// Lets this thread do what is harmless to a graph that another thread is capturing.
class BesideCaptures {
public:
    BesideCaptures() { exchange(); }
    ~BesideCaptures() { exchange(); }
    BesideCaptures(const BesideCaptures &) = delete;
    BesideCaptures &operator=(const BesideCaptures &) = delete;

private:
    // Without a driver there is no capture either, and so failures do not matter.
    void exchange() {
        if constexpr (captures_streams) (void)gpuThreadExchangeStreamCaptureMode(&mode_);
    }
    gpuStreamCaptureMode mode_ = gpuStreamCaptureModeRelaxed;
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
