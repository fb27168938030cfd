// Kernels that keep a device busy while something else is measured.
#pragma once

#include "vendor.hpp"

#include <cstddef>
#include <cstdint>

namespace bench::gpu {

// Computes in `blocks` processors, and leaves room for as many threads again in each of them. Each
// block counts its rounds in done[block]. Ends soon after *stop is set, and after two seconds in
// any case. Both are in the memory of the device.
inline constexpr std::uint64_t operations_per_round = 1024ull * 8192 * 2;
void start_spinning(gpuStream_t stream, unsigned blocks, const std::uint32_t *stop,
                    std::uint64_t *done);

// Blocks that take every place for a thread of `processors`, and end after some 20 us each, several
// after each other in each place.
constexpr std::uint64_t operations_per_burst(unsigned processors) {
    return 16ull * processors * 1024 * 2048 * 2;
}
void start_burst(gpuStream_t stream, unsigned processors);

// Bytes: a multiple of 16 KiB.
void start_copying(gpuStream_t stream, char *to, const char *from, std::size_t bytes);

} // namespace bench::gpu
