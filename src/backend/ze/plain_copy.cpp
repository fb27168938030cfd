#include "runtime/plain_copy.h"

namespace ucd::ze {

// Uses copy engines.
gpuError_t copy_plain(gpuStream_t stream, std::span<const PlainCopy> copies, bool) {
    for (const PlainCopy &copy : copies) {
        const gpuError_t error =
            gpuMemcpyAsync(copy.to, copy.from, copy.bytes, gpuMemcpyByEngine, stream);
        if (error != gpuSuccess) return error;
    }
    return gpuSuccess;
}

} // namespace ucd::ze
