// The common part of kernels for batches whose members have parameters of their own.
#pragma once

#include "kernels/words.h"
#include "params/batch.h"

namespace ucd::UCD_GPU {

// Calls share(number) for each number below `count`, which the threads of a launch share.
template <class Number, class Share>
UCD_GPU_FUNCTION void run_shares(Number count, Share share) {
    UCD_GPU_FOR_EACH_THREAD(thread) {
        const Number step = Number{UCD_GPU_BLOCKS} * threads_per_block;
        for (Number number = Number{UCD_GPU_BLOCK} * threads_per_block + thread; number < count;
             number += step)
            share(number);
    }
}

// Each block works on one tile of one member, whose parameters it loads to shared memory first. All
// threads of the block call run(params, number of the tile in its member).
template <class Params, class Run>
UCD_GPU_FUNCTION void run_member_tiles(const BatchParams &batch, Run run) {
    constexpr uint32_t words = sizeof(Params) / sizeof(uint32_t);
    static_assert(sizeof(Params) % sizeof(uint32_t) == 0);
    alignas(vector_bytes) UCD_GPU_SHARED unsigned char memory[sizeof(Params)];
    const auto *tiles = reinterpret_cast<const MemberTile *>(batch.table + batch.sections.starts);
    for (uint32_t t = UCD_GPU_BLOCK; t < batch.sections.tiles; t += UCD_GPU_BLOCKS) {
        const uint32_t member = load_table(&tiles[t].member);
        const uint32_t number = load_table(&tiles[t].number);
        const auto *params = reinterpret_cast<const uint32_t *>(
            batch.table + batch.sections.members + uint64_t{member} * sizeof(Params));
        UCD_GPU_FOR_EACH_THREAD(thread) {
            for (uint32_t i = thread; i < words; i += threads_per_block) {
                const uint32_t word = load_table(params + i);
                __builtin_memcpy(memory + i * sizeof word, &word, sizeof word);
            }
        }
        UCD_GPU_BARRIER();
        run(*reinterpret_cast<const Params *>(memory), number);
        UCD_GPU_BARRIER();
    }
}

// The same for kernels in which each thread works on its own: share(params, i) does the work of
// thread i of the member, which is none beyond the member's end.
template <class Params, class Share>
UCD_GPU_FUNCTION void run_member_threads(const BatchParams &batch, Share share) {
    run_member_tiles<Params>(batch, [share](const Params &params, uint32_t number) {
        UCD_GPU_FOR_EACH_THREAD(thread) {
            share(params, uint64_t{number} * threads_per_block + thread);
        }
    });
}

} // namespace ucd::UCD_GPU
