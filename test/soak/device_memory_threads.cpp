// Of devices that are threads of the CPU, whose memory has no end: allocations.
#include "memory_use.hpp"

#include "support/fake_device/fake_driver.h"
#include "support/host_vendor/capture.h"

std::uint64_t soak::device_memory_in_use() {
    // What the devices write down for tests would be taken for growth.
    (void)ucd::hostgpu::kernels_launched();
    (void)ucd::hostgpu::stored_by_blocks();
    return static_cast<std::uint64_t>(mock::counts.live_allocations.load());
}
