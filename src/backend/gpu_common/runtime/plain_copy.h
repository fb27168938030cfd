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

// Copies one after the other. Drivers refuse a copy if one of its sides is in several allocations,
// as blocks next to each other may be. Its halves are copied then, and theirs.
inline gpuError_t copy_each(gpuStream_t stream, std::span<const PlainCopy> copies) {
    for (const PlainCopy &copy : copies) {
        gpuError_t error = gpuMemcpyAsync(copy.to, copy.from, copy.bytes, gpuMemcpyDefault, stream);
        if (error == gpuErrorInvalidValue && copy.bytes > 1) [[unlikely]] {
            (void)gpuGetLastError(); // clears it
            const std::size_t half = copy.bytes / 2;
            const PlainCopy halves[] = {{copy.to, copy.from, half},
                                        {static_cast<char *>(copy.to) + half,
                                         static_cast<const char *>(copy.from) + half,
                                         copy.bytes - half}};
            error = copy_each(stream, halves);
        }
        if (error != gpuSuccess) return error;
    }
    return gpuSuccess;
}

} // namespace ucd::UCD_GPU
