// How much memory the process has, by the sources that there are; and whether it grew.
#pragma once

#include <cstdint>
#include <vector>

namespace soak {

struct MemoryUse {
    double seconds = 0;
    std::uint64_t steps = 0;
    std::uint64_t resident = 0;    // bytes of the process in memory, by the kernel
    std::uint64_t allocated = 0;   // bytes that malloc has given out
    std::uint64_t allocations = 0; // calls of operator new without a delete
    std::uint64_t device = 0;      // see device_memory_in_use
};

MemoryUse memory_use(double seconds, std::uint64_t steps);

// Bytes of the device's memory that are not free; on devices that are threads, the backend's
// allocations that live.
std::uint64_t device_memory_in_use();

// The first quarter of a run fills caches. Of the second and the last, the medians are compared: a
// median ignores what a few large moves hold for a moment. More than a tenth plus `slack` is
// growth.
bool has_grown(const std::vector<std::uint64_t> &samples, std::uint64_t slack);
std::uint64_t median_of_quarter(const std::vector<std::uint64_t> &samples, int quarter);

} // namespace soak
