// Of devices that are threads of the CPU, whose memory has no end: allocations.
#include "memory_use.hpp"

#include "support/fake_device/fake_driver.h"

std::uint64_t soak::device_memory_in_use() {
    return static_cast<std::uint64_t>(mock::counts.live_allocations.load());
}
