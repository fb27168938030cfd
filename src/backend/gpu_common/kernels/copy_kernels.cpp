// The kernels that copy from layout to layout.

#include "kernels/copy_kernels.h"

#include "kernels/copy_kernel.h"
#include "kernels/copy_places_kernel.h"

namespace ucd::UCD_GPU {

#define UCD_GPU_COPY(width)                                                                        \
    UCD_GPU_INDEXING_KERNEL(copy_rows_w##width, CopyRowsParams) {                                  \
        run_copy<CopyRows<width>>(params);                                                         \
    }                                                                                              \
    UCD_GPU_KERNEL(copy_rows_batch_w##width, BatchParams) {                                        \
        run_copy_batch<CopyRows<width>>(params);                                                   \
    }                                                                                              \
    UCD_GPU_INDEXING_KERNEL(copy_tiles_w##width, TilesParams) {                                    \
        run_copy<CopyTiles<width>>(params);                                                        \
    }                                                                                              \
    UCD_GPU_KERNEL(copy_tiles_batch_w##width, BatchParams) {                                       \
        run_copy_batch<CopyTiles<width>>(params);                                                  \
    }                                                                                              \
    UCD_GPU_INDEXING_KERNEL(copy_windows_w##width, TilesParams) {                                  \
        run_copy<CopyWindows<width>>(params);                                                      \
    }                                                                                              \
    UCD_GPU_KERNEL(copy_windows_batch_w##width, BatchParams) {                                     \
        run_copy_batch<CopyWindows<width>>(params);                                                \
    }                                                                                              \
    UCD_GPU_INDEXING_KERNEL(copy_places_w##width, CopyPlacesParams) {                              \
        run_copy<CopyPlaces<width>>(params);                                                       \
    }                                                                                              \
    UCD_GPU_KERNEL(copy_places_batch_w##width, BatchParams) {                                      \
        run_copy_batch<CopyPlaces<width>>(params);                                                 \
    }
UCD_GPU_COPY(1)
UCD_GPU_COPY(2)
UCD_GPU_COPY(4)
UCD_GPU_COPY(8)
UCD_GPU_COPY(16)

#define UCD_GPU_CHANNELS(width)                                                                    \
    UCD_GPU_INDEXING_KERNEL(copy_channels_w##width, TilesParams) {                                 \
        run_copy<CopyChannels<width>>(params);                                                     \
    }                                                                                              \
    UCD_GPU_KERNEL(copy_channels_batch_w##width, BatchParams) {                                    \
        run_copy_batch<CopyChannels<width>>(params);                                               \
    }
UCD_GPU_CHANNELS(1)
UCD_GPU_CHANNELS(2)

UCD_GPU_KERNEL(copy_interpreters, CopyInterpretersParams) {
    copy_all_by_interpreters(params);
}
UCD_GPU_KERNEL(copy_interpreters_batch, BatchParams) {
    copy_batch_by_interpreters(params);
}

#define UCD_GPU_PAIR(name, width)                                                                  \
    { UCD_GPU_KERNEL_HANDLE(name##_w##width), UCD_GPU_KERNEL_HANDLE(name##_batch_w##width) }
#define UCD_GPU_BY_WIDTH(name)                                                                     \
    CopyKernel name##_kernel(unsigned width) {                                                     \
        static const CopyKernel kernels[] = {UCD_GPU_PAIR(name, 1), UCD_GPU_PAIR(name, 2),         \
                                             UCD_GPU_PAIR(name, 4), UCD_GPU_PAIR(name, 8),         \
                                             UCD_GPU_PAIR(name, 16)};                              \
        return kernels[__builtin_ctz(width)];                                                      \
    }
UCD_GPU_BY_WIDTH(copy_rows)
UCD_GPU_BY_WIDTH(copy_tiles)
UCD_GPU_BY_WIDTH(copy_windows)
UCD_GPU_BY_WIDTH(copy_places)

CopyKernel copy_channels_kernel(unsigned width) {
    static const CopyKernel kernels[] = {UCD_GPU_PAIR(copy_channels, 1),
                                         UCD_GPU_PAIR(copy_channels, 2)};
    return kernels[width - 1];
}
CopyKernel tiles_kernel(const TilesParams &params, unsigned width) {
    if (params.channels > 0) return copy_channels_kernel(width);
    return params.slack > 0 ? copy_windows_kernel(width) : copy_tiles_kernel(width);
}

CopyKernel copy_interpreters_kernel() {
    return {UCD_GPU_KERNEL_HANDLE(copy_interpreters),
            UCD_GPU_KERNEL_HANDLE(copy_interpreters_batch)};
}

} // namespace ucd::UCD_GPU
