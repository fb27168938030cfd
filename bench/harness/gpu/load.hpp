// Work that goes on in another stream while something is measured.
#pragma once

#include "harness/device.hpp"

#include <memory>

namespace bench::gpu {

enum class LoadWork { spin, bursts, kernel_copies, host_to_device, device_to_host };

struct LoadKind {
    const char *name;
    LoadWork work;
    double share = 1; // of the processors, for spin
    // Pieces of work that are started with another one still under way, so that the stream never
    // runs dry, up to a moment in which it has; 0: there is no such moment.
    unsigned in_a_row = 0;
    bool computes() const { return work == LoadWork::spin || work == LoadWork::bursts; }
};

// On this device, which is current.
std::unique_ptr<Load> start_load(Device &device, const LoadKind &kind);

} // namespace bench::gpu
