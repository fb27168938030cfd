// A kernel for one small layout, in the stream of whoever calls.
#pragma once

#include "vendor.hpp"

namespace bench::gpu::hand {

// 64 KiB in blocks of 128 of 512 bytes.
inline constexpr int called_blocks = 512, called_block = 128, called_stride = 512;
void pack_64_kib(const char *typed, char *packed, gpuStream_t stream);

} // namespace bench::gpu::hand
