// The kernels that exist once for all shapes.

#include "kernels/aligned_stores_kernel.h"
#include "kernels/interpreter_kernel.h"
#include "kernels/nest_kernels.h"

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

const void *interpreter_kernel(Direction direction) {
    return direction == Direction::pack ? UCD_GPU_KERNEL_HANDLE(pack_interpreter)
                                        : UCD_GPU_KERNEL_HANDLE(unpack_interpreter);
}

const void *aligned_stores_kernel() {
    return UCD_GPU_KERNEL_HANDLE(unpack_aligned_stores);
}

} // namespace ucd::UCD_GPU
