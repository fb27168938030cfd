#include "memory_use.hpp"

#include "c_api/allocations.hpp"

#include <algorithm>
#include <cstdio>

#include <malloc.h>
#include <unistd.h>

namespace soak {
namespace {

std::uint64_t resident_bytes() {
    unsigned long pages = 0, resident = 0;
    if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%lu %lu", &pages, &resident) != 2) resident = 0;
        std::fclose(file);
    }
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

MemoryUse memory_use(double seconds, std::uint64_t steps) {
    const struct mallinfo2 info = mallinfo2();
    return {seconds,
            steps,
            resident_bytes(),
            info.uordblks + info.hblkhd,
            static_cast<std::uint64_t>(ucdtest::live_allocations()),
            device_memory_in_use()};
}

std::uint64_t median_of_quarter(const std::vector<std::uint64_t> &samples, int quarter) {
    const auto at = [&](int q) {
        return samples.begin() +
               static_cast<std::ptrdiff_t>(samples.size() * static_cast<std::size_t>(q) / 4);
    };
    std::vector<std::uint64_t> part(at(quarter), at(quarter + 1));
    if (part.empty()) return 0;
    std::ranges::nth_element(part, part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2));
    return part[part.size() / 2];
}

bool has_grown(const std::vector<std::uint64_t> &samples, std::uint64_t slack) {
    const std::uint64_t early = median_of_quarter(samples, 1), late = median_of_quarter(samples, 3);
    return late > early + early / 10 + slack;
}

} // namespace soak
