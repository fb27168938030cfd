// The body of the kernel that unpacks with aligned stores.
#pragma once

#include "kernels/aligned_stores.h"

namespace ucd::UCD_GPU {

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
    UCD_GPU_FOR_EACH_THREAD(thread) {
        const uint32_t step = UCD_GPU_BLOCKS * threads_per_block;
        for (uint32_t i = UCD_GPU_BLOCK * threads_per_block + thread; i < p.range.count; i += step)
            unpack_aligned_store(p.range, i, [&](uint32_t number) { return period_at(p, number); });
    }
}

} // namespace ucd::UCD_GPU
