// Copies between two layouts, whose addresses somebody else finds.
#pragma once

#include "kernels/interpreter.h"
#include "kernels/runtime_width.h"

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

// Copies the bytes [first, end), in pieces that are contiguous on both sides, by words of 1 <<
// shift bytes. from(at) and to(at) find the Stretch that begins with byte `at`.
template <class From, class To>
UCD_GPU_FUNCTION void copy_stretches(uint64_t first, uint64_t end, uint32_t shift, From from_at,
                                     To to_at) {
#pragma unroll 1
    for (uint64_t i = first; i < end;) {
        const Stretch from = from_at(i), to = to_at(i);
        uint64_t bytes = from.bytes < to.bytes ? from.bytes : to.bytes;
        if (bytes > end - i) bytes = end - i;
#pragma unroll 1
        for (uint64_t at = 0; at < bytes; at += uint64_t{1} << shift)
            store_word(to.place + at, 1u << shift, load_word(from.place + at, 1u << shift));
        i += bytes;
    }
}

} // namespace ucd::UCD_GPU
