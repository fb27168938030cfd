// Many copies of contiguous bytes.
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

// Copies in no particular order, in the way that is fastest with this vendor.
gpuError_t copy_plain(gpuStream_t stream, std::span<const PlainCopy> copies, bool captured);

// Copies one after the other.
inline gpuError_t copy_each(gpuStream_t stream, std::span<const PlainCopy> copies) {
    for (const PlainCopy &copy : copies) {
        const gpuError_t error =
            gpuMemcpyAsync(copy.to, copy.from, copy.bytes, gpuMemcpyDefault, stream);
        if (error != gpuSuccess) return error;
    }
    return gpuSuccess;
}

} // namespace ucd::UCD_GPU
