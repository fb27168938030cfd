// The bodies of the kernels that copy from layout to layout.
#pragma once

#include "kernels/channel_kernel.h"
#include "kernels/copy_moves.h"
#include "kernels/find_on_both.h"
#include "kernels/member_tiles.h"
#include "kernels/tile_kernel.h"
#include "params/copy.h"

namespace ucd::UCD_GPU {

template <unsigned count>
struct Words {
    static constexpr unsigned number = count;
};

// Copies the words of a tile: copy(words, first) copies so many, which are threads_per_block apart.
// It copies all words of a thread together, or each word of a tile that is not full.
template <class Params, class Copy>
UCD_GPU_FUNCTION void for_words_of_tile(const Params &p, uint32_t tile, uint32_t thread,
                                        Copy copy) {
    const uint32_t share = threads_per_block * p.per_thread;
    const uint32_t start = tile * share;
    if (p.per_thread > 1 && p.words - start >= share)
        return copy(Words<copy_words_per_thread>{}, start + thread);
    for (uint32_t i = 0; i < p.per_thread; ++i) {
        const uint32_t word = start + i * threads_per_block + thread;
        if (word < p.words) copy(Words<1>{}, word);
    }
}

// Calls at(from, to) with the places of words that are threads_per_block apart, by the levels of a
// nest that both sides have in common.
template <unsigned words, class Params, class At>
UCD_GPU_FUNCTION void at_words(const Params &p, uint32_t first, At at) {
    uint32_t position[words];
    uintptr_t from[words], to[words];
#pragma unroll
    for (unsigned i = 0; i < words; ++i) {
        position[i] = first + i * threads_per_block;
        from[i] = p.from;
        to[i] = p.to;
    }
    find_on_both(p.level, p.levels, position, from, to);
    at(from, to);
}

// Kinds of copies, with what a block does for a tile.
template <unsigned width>
struct CopyRows {
    using Params = CopyRowsParams;
    UCD_GPU_FUNCTION static void run(const Params &p, uint32_t tile) {
        UCD_GPU_FOR_EACH_THREAD(thread) {
            for_words_of_tile(p, tile, thread, [&](auto words, uint32_t word) {
                at_words<decltype(words)::number>(
                    p, word, [](const auto &from, const auto &to) { copy_words<width>(from, to); });
            });
        }
    }
};
template <unsigned width>
struct CopyTiles {
    using Params = TilesParams;
    UCD_GPU_FUNCTION static void run(const Params &p, uint32_t tile) {
        move_tile<Word<width>, Word<width>>(p, tile);
    }
};
template <unsigned width>
struct CopyWindows {
    using Params = TilesParams;
    UCD_GPU_FUNCTION static void run(const Params &p, uint32_t tile) {
        move_tile<Word<width>, Word<width>, true>(p, tile);
    }
};
template <unsigned width>
struct CopyChannels {
    using Params = TilesParams;
    UCD_GPU_FUNCTION static void run(const Params &p, uint32_t tile) {
        move_channels<width>(p, tile);
    }
};

template <class Copy>
UCD_GPU_FUNCTION void run_copy(const typename Copy::Params &p) {
    for (uint32_t tile = UCD_GPU_BLOCK; tile < p.tiles; tile += UCD_GPU_BLOCKS) Copy::run(p, tile);
}
template <class Copy>
UCD_GPU_FUNCTION void run_copy_batch(const BatchParams &batch) {
    using Params = typename Copy::Params;
    run_member_tiles<Params>(batch, [](const Params &p, uint32_t tile) { Copy::run(p, tile); });
}

// Copies the 16 bytes of the range that belong to thread `number`.
UCD_GPU_FUNCTION void copy_vector_by_interpreters(const CopyInterpretersParams &p,
                                                  uint64_t number) {
    const uint64_t first = number * vector_bytes;
    if (first >= p.bytes) return;
    const uint64_t end = first + vector_bytes < p.bytes ? first + vector_bytes : p.bytes;
    copy_stretches(
        first, end, p.shift, [&](uint64_t at) { return locate(p.from, p.first_from + at); },
        [&](uint64_t at) { return locate(p.to, p.first_to + at); });
}

UCD_GPU_FUNCTION void copy_all_by_interpreters(const CopyInterpretersParams &p) {
    run_shares((p.bytes + vector_bytes - 1) / vector_bytes,
               [&](uint64_t number) { copy_vector_by_interpreters(p, number); });
}
UCD_GPU_FUNCTION void copy_batch_by_interpreters(const BatchParams &batch) {
    run_member_threads<CopyInterpretersParams>(
        batch, [](const CopyInterpretersParams &p, uint64_t number) {
            copy_vector_by_interpreters(p, number);
        });
}

} // namespace ucd::UCD_GPU
