// The common part of the kernels that reduce batches.
#pragma once

#include "kernels/words.h"
#include "params/batch.h"
#include "params/reduce.h"

namespace ucd::UCD_GPU {

// Each block works on one tile of one member, whose parameters it loads to shared memory first.
// share(params, i) does the work of thread i of the member, which is none beyond the member's end.
template <class Params, class Share>
UCD_GPU_FUNCTION void run_in_batch(const BatchParams &batch, Share share) {
    constexpr uint32_t words = sizeof(Params) / sizeof(uint32_t);
    alignas(Params) UCD_GPU_SHARED unsigned char memory[sizeof(Params)];
    const auto *tiles = reinterpret_cast<const ReduceTile *>(batch.table + batch.sections.starts);
    for (uint32_t t = UCD_GPU_BLOCK; t < batch.sections.tiles; t += UCD_GPU_BLOCKS) {
        const uint32_t member = load_table(&tiles[t].member);
        const uint64_t first = uint64_t{load_table(&tiles[t].number)} * threads_per_block;
        const auto *params = reinterpret_cast<const uint32_t *>(
            batch.table + batch.sections.members + uint64_t{member} * sizeof(Params));
        UCD_GPU_FOR_EACH_THREAD(thread) {
            for (uint32_t i = thread; i < words; i += threads_per_block) {
                const uint32_t word = load_table(params + i);
                __builtin_memcpy(memory + i * sizeof word, &word, sizeof word);
            }
        }
        UCD_GPU_BARRIER();
        UCD_GPU_FOR_EACH_THREAD(thread) {
            share(*reinterpret_cast<const Params *>(memory), first + thread);
        }
        UCD_GPU_BARRIER();
    }
}

} // namespace ucd::UCD_GPU
