// The bodies of the kernels that copy from layout to layout.
#pragma once

#include "kernels/find_on_both.h"
#include "kernels/interpreter_kernel.h"
#include "kernels/member_tiles.h"
#include "kernels/runtime_width.h"
#include "kernels/tile_kernel.h"
#include "params/copy.h"

namespace ucd::UCD_GPU {

// Performs all loads, then all stores.
template <unsigned width, unsigned count>
UCD_GPU_FUNCTION void copy_words(const uintptr_t (&from)[count], const uintptr_t (&to)[count]) {
    Word<width> words[count];
#pragma unroll
    for (unsigned i = 0; i < count; ++i) words[i] = load<Word<width>>(from[i]);
#pragma unroll
    for (unsigned i = 0; i < count; ++i) store<Word<width>>(to[i], words[i]);
}

// Copies the words of a tile: several(first) copies all words of a thread, which are
// threads_per_block apart; one(word) copies each word of a tile that is not full.
template <class Params, class Several, class One>
UCD_GPU_FUNCTION void for_words_of_tile(const Params &p, uint32_t tile, uint32_t thread,
                                        Several several, One one) {
    const uint32_t share = threads_per_block * p.per_thread;
    const uint32_t start = tile * share;
    if (p.per_thread > 1 && p.words - start >= share) return several(start + thread);
    for (uint32_t i = 0; i < p.per_thread; ++i) {
        const uint32_t word = start + i * threads_per_block + thread;
        if (word < p.words) one(word);
    }
}

template <unsigned width, unsigned count>
UCD_GPU_FUNCTION void copy_from_rows(const CopyRowsParams &p, uint32_t first) {
    uint32_t position[count];
    uintptr_t from[count], to[count];
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
        position[i] = first + i * threads_per_block;
        from[i] = p.from;
        to[i] = p.to;
    }
    find_on_both(p.level, p.levels, position, from, to);
    copy_words<width>(from, to);
}

template <unsigned width>
UCD_GPU_FUNCTION void copy_words_of_tile(const CopyRowsParams &p, uint32_t tile, uint32_t thread) {
    for_words_of_tile(
        p, tile, thread,
        [&](uint32_t word) { copy_from_rows<width, copy_words_per_thread>(p, word); },
        [&](uint32_t word) { copy_from_rows<width, 1>(p, word); });
}

template <unsigned width>
UCD_GPU_FUNCTION void run_copy_rows(const CopyRowsParams &p) {
    UCD_GPU_FOR_EACH_THREAD(thread) {
        for (uint32_t tile = UCD_GPU_BLOCK; tile < p.tiles; tile += UCD_GPU_BLOCKS)
            copy_words_of_tile<width>(p, tile, thread);
    }
}
template <unsigned width>
UCD_GPU_FUNCTION void run_copy_rows_batch(const BatchParams &batch) {
    run_member_tiles<CopyRowsParams>(batch, [](const CopyRowsParams &p, uint32_t tile) {
        UCD_GPU_FOR_EACH_THREAD(thread) {
            copy_words_of_tile<width>(p, tile, thread);
        }
    });
}

template <unsigned width>
UCD_GPU_FUNCTION void run_copy_tiles_batch(const BatchParams &batch) {
    run_member_tiles<TilesParams>(batch, [](const TilesParams &p, uint32_t index) {
        move_tile<Word<width>, Word<width>>(p, index);
    });
}

// Copies the 16 bytes of the range that belong to thread `number`, in pieces that are contiguous on
// both sides.
UCD_GPU_FUNCTION void copy_vector_by_interpreters(const CopyInterpretersParams &p,
                                                  uint64_t number) {
    const uint64_t first = number * vector_bytes;
    if (first >= p.bytes) return;
    const uint64_t end = first + vector_bytes < p.bytes ? first + vector_bytes : p.bytes;
#pragma unroll 1
    for (uint64_t i = first; i < end;) {
        Stretch from = locate(p.from, p.first_from + i), to = locate(p.to, p.first_to + i);
        uint64_t bytes = from.bytes < to.bytes ? from.bytes : to.bytes;
        if (bytes > end - i) bytes = end - i;
#pragma unroll 1
        for (uint64_t at = 0; at < bytes; at += uint64_t{1} << p.shift)
            store_word(to.place + at, 1u << p.shift, load_word(from.place + at, 1u << p.shift));
        i += bytes;
    }
}

UCD_GPU_FUNCTION void copy_all_by_interpreters(const CopyInterpretersParams &p) {
    UCD_GPU_FOR_EACH_THREAD(thread) {
        const uint64_t step = uint64_t{UCD_GPU_BLOCKS} * threads_per_block;
        for (uint64_t number = uint64_t{UCD_GPU_BLOCK} * threads_per_block + thread;
             number * vector_bytes < p.bytes; number += step)
            copy_vector_by_interpreters(p, number);
    }
}
UCD_GPU_FUNCTION void copy_batch_by_interpreters(const BatchParams &batch) {
    run_member_threads<CopyInterpretersParams>(
        batch, [](const CopyInterpretersParams &p, uint64_t number) {
            copy_vector_by_interpreters(p, number);
        });
}

} // namespace ucd::UCD_GPU
