// The kernels that exist once for all shapes.

#include "kernels/aligned_stores.h"
#include "kernels/interpreter.h"
#include "kernels/member_tiles.h"
#include "kernels/nest_kernels.h"

namespace ucd::UCD_GPU {

template <Direction direction>
UCD_GPU_FUNCTION void run_interpreter(const InterpreterParams &p) {
    run_shares(p.vectors, [&](uint64_t v) { interpret_vector<direction>(p, v); });
}

UCD_GPU_FUNCTION Period period_at(const AlignedStoresParams &p, uint32_t number) {
    Period period{p.typed, uint64_t{number} * p.period};
    for (uint32_t k = 0; k < p.levels; ++k) {
        const uint32_t child = quotient(number, p.level[k].each);
        number -= child * p.level[k].each.value;
        period.typed += static_cast<uintptr_t>(child) *
                        static_cast<uintptr_t>(int64_t{p.level[k].stride}) * max_store_bytes;
    }
    return period;
}

UCD_GPU_FUNCTION void run_aligned_stores(const AlignedStoresParams &p) {
    run_shares(p.range.count, [&](uint32_t i) {
        unpack_aligned_store(p.range, i, [&](uint32_t number) { return period_at(p, number); });
    });
}

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
