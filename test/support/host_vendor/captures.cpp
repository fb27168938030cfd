// CUDA's rule for captures in mode Global, as all of the host vendor's are: calls that may be
// unsafe meanwhile are refused in any thread that has not made itself relaxed, and end the capture.
#include "support/host_vendor/state.h"
#include "vendor.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace ucd::hostgpu {
namespace {

thread_local gpuStreamCaptureMode mode_of_thread = gpuStreamCaptureModeGlobal;
std::atomic<int> captures{0};
std::atomic<const char *> ended_by{nullptr};

bool may_be_unsafe(std::string_view call) {
    constexpr std::string_view calls[] = {"allocate",
                                          "release", // memory of either kind
                                          "gpuEventQuery",
                                          "gpuStreamQuery",
                                          "gpuStreamSynchronize",
                                          "gpuIpcGetMemHandle",
                                          "gpuIpcOpenMemHandle",
                                          "refuse_some",
                                          "refuse_open", // sharing memory
                                          "gpuDeviceCanAccessPeer",
                                          "gpuDeviceEnablePeerAccess"};
    return std::find(std::begin(calls), std::end(calls), call) != std::end(calls);
}

} // namespace

bool ends_captures(const char *call) {
    if (captures == 0 || mode_of_thread == gpuStreamCaptureModeRelaxed || !may_be_unsafe(call))
        return false;
    ended_by = call;
    return true;
}

void note_capture_begins() {
    ++captures;
}

void note_capture_ends() {
    --captures;
    if (const char *const call = ended_by.exchange(nullptr); call != nullptr)
        throw std::logic_error("the capture was ended by a call: " + std::string(call));
}

} // namespace ucd::hostgpu

// A refused call exchanges all the same, or the thread would keep a mode that it has had for a
// call.
gpuError_t gpuThreadExchangeStreamCaptureMode(gpuStreamCaptureMode *mode) {
    std::swap(*mode, ucd::hostgpu::mode_of_thread);
    return ucd::hostgpu::is_refused() ? gpuErrorRefused : gpuSuccess;
}
