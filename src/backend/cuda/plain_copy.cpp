#include "runtime/plain_copy.h"

#include <vector>

namespace ucd::cuda {
namespace {

#if CUDART_VERSION >= 13000

// Returns false if the driver does not support this call, or refuses it because one of the copies
// has a side in several allocations.
bool copy_batch(gpuStream_t stream, std::span<const PlainCopy> copies, gpuError_t &error) {
    std::vector<void *> to;
    std::vector<const void *> from;
    std::vector<std::size_t> bytes;
    to.reserve(copies.size());
    from.reserve(copies.size());
    bytes.reserve(copies.size());
    for (const PlainCopy &copy : copies) {
        to.push_back(copy.to);
        from.push_back(copy.from);
        bytes.push_back(copy.bytes);
    }
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
    std::size_t first = 0; // the first copy that the attributes apply to
    error = cudaMemcpyBatchAsync(to.data(), from.data(), bytes.data(), copies.size(), &attributes,
                                 &first, 1, stream);
    if (error != cudaErrorNotSupported && error != cudaErrorCallRequiresNewerDriver &&
        error != cudaErrorInvalidValue)
        return true;
    (void)cudaGetLastError();
    return false;
}

#else

bool copy_batch(gpuStream_t, std::span<const PlainCopy>, gpuError_t &) {
    return false;
}

#endif

} // namespace

// A batch is one call, but is supported neither in graphs nor in the legacy stream.
gpuError_t copy_plain(gpuStream_t stream, std::span<const PlainCopy> copies, bool captured) {
    const bool legacy = stream == nullptr || stream == cudaStreamLegacy;
    gpuError_t error;
    if (copies.size() > 1 && !captured && !legacy && copy_batch(stream, copies, error))
        return error;
    return copy_each(stream, copies);
}

} // namespace ucd::cuda
