#include "runtime/plain_copy.h"

namespace ucd::ze {

gpuError_t copy_plain(gpuStream_t stream, std::span<const PlainCopy> copies, bool) {
    return copy_each(stream, copies);
}

} // namespace ucd::ze
