#include "runtime/plain_copy.h"

namespace ucd::hip {

// hipMemcpyBatchAsync, where there is one, is a loop too.
gpuError_t copy_plain(gpuStream_t stream, std::span<const PlainCopy> copies, bool) {
    return copy_each(stream, copies);
}

} // namespace ucd::hip
