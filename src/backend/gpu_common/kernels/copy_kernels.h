#pragma once

#include "params/tiles.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

// The kernel for one copy, and that for a batch of such copies.
struct CopyKernel {
    const void *one, *batch;
};

// For words of 1, 2, 4, 8 or 16 bytes.
CopyKernel copy_rows_kernel(unsigned width);
CopyKernel copy_tiles_kernel(unsigned width);
CopyKernel copy_windows_kernel(unsigned width);
CopyKernel copy_places_kernel(unsigned width);
CopyKernel copy_channels_kernel(unsigned width); // 1 or 2 bytes

// The kernel that moves these tiles. A word has `width` bytes.
CopyKernel tiles_kernel(const gpu::TilesParams &params, unsigned width);

CopyKernel copy_interpreters_kernel();

} // namespace ucd::UCD_GPU
