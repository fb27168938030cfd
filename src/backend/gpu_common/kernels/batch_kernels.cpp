// The kernels that move batches.

#include "kernels/batch_kernels.h"

#include "kernels/batch_kernel.h"

namespace ucd::UCD_GPU {

UCD_GPU_KERNEL(pack_batch, BatchParams) {
    run_batch<Direction::pack>(TableInMemory{reinterpret_cast<const char *>(params.table)},
                               params.sections);
}
UCD_GPU_KERNEL(unpack_batch, BatchParams) {
    run_batch<Direction::unpack>(TableInMemory{reinterpret_cast<const char *>(params.table)},
                                 params.sections);
}
UCD_GPU_INDEXING_KERNEL(pack_small_batch, SmallBatchParams) {
    run_batch<Direction::pack>(TableInParams{params.table}, params.sections);
}
UCD_GPU_INDEXING_KERNEL(unpack_small_batch, SmallBatchParams) {
    run_batch<Direction::unpack>(TableInParams{params.table}, params.sections);
}

const void *batch_kernel(Direction direction) {
    return direction == Direction::pack ? UCD_GPU_KERNEL_HANDLE(pack_batch)
                                        : UCD_GPU_KERNEL_HANDLE(unpack_batch);
}

const void *small_batch_kernel(Direction direction) {
    return direction == Direction::pack ? UCD_GPU_KERNEL_HANDLE(pack_small_batch)
                                        : UCD_GPU_KERNEL_HANDLE(unpack_small_batch);
}

} // namespace ucd::UCD_GPU
