// The kernels that copy from layout to layout.

#include "kernels/copy_kernels.h"

#include "kernels/copy_kernel.h"

namespace ucd::UCD_GPU {

#define UCD_GPU_COPY(width)                                                                        \
    UCD_GPU_INDEXING_KERNEL(copy_rows_w##width, CopyRowsParams) {                                  \
        run_copy_rows<width>(params);                                                              \
    }                                                                                              \
    UCD_GPU_INDEXING_KERNEL(copy_tiles_w##width, CopyTilesParams) {                                \
        run_copy_tiles<width>(params);                                                             \
    }                                                                                              \
    UCD_GPU_INDEXING_KERNEL(copy_places_w##width, CopyPlacesParams) {                              \
        run_copy_places<width>(params);                                                            \
    }
UCD_GPU_COPY(1)
UCD_GPU_COPY(2)
UCD_GPU_COPY(4)
UCD_GPU_COPY(8)
UCD_GPU_COPY(16)

UCD_GPU_KERNEL(copy_interpreters, CopyInterpretersParams) {
    copy_by_interpreters(params);
}

#define UCD_GPU_BY_WIDTH(name)                                                                     \
    const void *name##_kernel(unsigned width) {                                                    \
        switch (width) {                                                                           \
        case 1: return UCD_GPU_KERNEL_HANDLE(name##_w1);                                           \
        case 2: return UCD_GPU_KERNEL_HANDLE(name##_w2);                                           \
        case 4: return UCD_GPU_KERNEL_HANDLE(name##_w4);                                           \
        case 8: return UCD_GPU_KERNEL_HANDLE(name##_w8);                                           \
        case 16: return UCD_GPU_KERNEL_HANDLE(name##_w16);                                         \
        default: return nullptr;                                                                   \
        }                                                                                          \
    }
UCD_GPU_BY_WIDTH(copy_rows)
UCD_GPU_BY_WIDTH(copy_tiles)
UCD_GPU_BY_WIDTH(copy_places)

const void *copy_interpreters_kernel() {
    return UCD_GPU_KERNEL_HANDLE(copy_interpreters);
}

} // namespace ucd::UCD_GPU
