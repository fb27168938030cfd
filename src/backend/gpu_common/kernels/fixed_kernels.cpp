// The kernels that exist once for all shapes.

#include "kernels/aligned_stores_kernel.h"
#include "kernels/interpreter_kernel.h"
#include "kernels/nest_kernels.h"
#include "kernels/transpose_kernel.h"

namespace ucd::UCD_GPU {

UCD_GPU_KERNEL(pack_interpreter, InterpreterParams) {
    run_interpreter<Direction::pack>(params);
}
UCD_GPU_KERNEL(unpack_interpreter, InterpreterParams) {
    run_interpreter<Direction::unpack>(params);
}

UCD_GPU_INDEXING_KERNEL(unpack_aligned_stores, AlignedStoresParams) {
    run_aligned_stores(params);
}

#define UCD_GPU_TRANSPOSE(width)                                                                   \
    UCD_GPU_KERNEL(pack_transpose_w##width, TransposeParams) {                                     \
        run_transpose<Direction::pack, width>(params);                                             \
    }                                                                                              \
    UCD_GPU_KERNEL(unpack_transpose_w##width, TransposeParams) {                                   \
        run_transpose<Direction::unpack, width>(params);                                           \
    }
UCD_GPU_TRANSPOSE(1)
UCD_GPU_TRANSPOSE(2)
UCD_GPU_TRANSPOSE(4)
UCD_GPU_TRANSPOSE(8)
UCD_GPU_TRANSPOSE(16)

const void *interpreter_kernel(Direction direction) {
    return direction == Direction::pack ? UCD_GPU_KERNEL_HANDLE(pack_interpreter)
                                        : UCD_GPU_KERNEL_HANDLE(unpack_interpreter);
}

const void *aligned_stores_kernel() {
    return UCD_GPU_KERNEL_HANDLE(unpack_aligned_stores);
}

const void *transpose_kernel(Direction direction, unsigned width) {
    const bool pack = direction == Direction::pack;
    switch (width) {
#define UCD_GPU_CASE(width)                                                                        \
    case width:                                                                                    \
        return pack ? UCD_GPU_KERNEL_HANDLE(pack_transpose_w##width)                               \
                    : UCD_GPU_KERNEL_HANDLE(unpack_transpose_w##width);
        UCD_GPU_CASE(1)
        UCD_GPU_CASE(2)
        UCD_GPU_CASE(4)
        UCD_GPU_CASE(8)
        UCD_GPU_CASE(16)
#undef UCD_GPU_CASE
    default: return nullptr;
    }
}

} // namespace ucd::UCD_GPU
