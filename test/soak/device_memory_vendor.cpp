// Of a GPU vendor's first device.
#include "memory_use.hpp"

#include "names.hpp"

std::uint64_t soak::device_memory_in_use() {
    std::size_t free = 0, total = 0;
    return gpuMemGetInfo(&free, &total) == gpuSuccess ? total - free : 0;
}
