#include "runtime/plain_copy.h"

namespace ucd::hip {

// hipMemcpyBatchAsync is not used: where it exists, it is also a loop.
gpuError_t copy_plain(gpuStream_t stream, std::span<const PlainCopy> copies, bool) {
    return copy_each(stream, copies);
}

} // namespace ucd::hip
