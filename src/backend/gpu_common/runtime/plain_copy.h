// Many copies of consecutive bytes.
#pragma once

#include "vendor.h"

#include <cstddef>
#include <span>

namespace ucd::UCD_GPU {

struct PlainCopy {
    void *to;
    const void *from;
    std::size_t bytes;
};

// Unordered among each other, as the vendor does that best.
gpuError_t copy_plain(gpuStream_t stream, std::span<const PlainCopy> copies, bool captured);

// One after the other.
inline gpuError_t copy_each(gpuStream_t stream, std::span<const PlainCopy> copies) {
    for (const PlainCopy &copy : copies) {
        const gpuError_t error =
            gpuMemcpyAsync(copy.to, copy.from, copy.bytes, gpuMemcpyDefault, stream);
        if (error != gpuSuccess) return error;
    }
    return gpuSuccess;
}

} // namespace ucd::UCD_GPU
