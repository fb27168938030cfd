// The bodies of the kernels that convert elements.
#pragma once

#include "kernels/convert_elements.h"
#include "kernels/copy_kernel.h"
#include "kernels/copy_places_kernel.h"
#include "params/convert.h"

namespace ucd::UCD_GPU {

template <class To, class From>
inline constexpr unsigned
    elements_in_vector = vector_bytes / (sizeof(To) > sizeof(From) ? sizeof(To) : sizeof(From));

// Converts `words` words of `each` elements. Performs all loads, then all stores.
template <class To, class From, unsigned each, unsigned words>
UCD_GPU_FUNCTION void convert_words(const uintptr_t (&from)[words], const uintptr_t (&to)[words],
                                    bool saturate) {
    [[maybe_unused]] const auto limit = limit_of<To>(saturate);
    WordOfElements<From, each> in[words];
#pragma unroll
    for (unsigned i = 0; i < words; ++i) in[i].word = load<Word<each * sizeof(From)>>(from[i]);
#pragma unroll
    for (unsigned i = 0; i < words; ++i) {
        WordOfElements<To, each> out;
        convert_elements(in[i].element, out.element, limit);
        store<Word<each * sizeof(To)>>(to[i], out.word);
    }
}

template <class To, class From, unsigned each>
UCD_GPU_FUNCTION void run_convert_words(const ConvertParams &p) {
    UCD_GPU_FOR_EACH_THREAD(thread) {
        for (uint32_t tile = UCD_GPU_BLOCK; tile < p.tiles; tile += UCD_GPU_BLOCKS)
            for_words_of_tile(p, tile, thread, [&](auto words, uint32_t word) {
                at_words<decltype(words)::number>(p, word, [&](const auto &from, const auto &to) {
                    convert_words<To, From, each>(from, to, p.saturate != 0);
                });
            });
    }
}

template <class To, class From>
UCD_GPU_FUNCTION void run_convert(const ConvertParams &p) {
    if (p.in_vectors != 0)
        run_convert_words<To, From, elements_in_vector<To, From>>(p);
    else
        run_convert_words<To, From, 1>(p);
}

// Loads and stores an element, byte by byte if it is not aligned.
template <class T>
UCD_GPU_FUNCTION T load_element(uintptr_t from, bool aligned) {
    WordOfElements<T, 1> element;
    if (aligned) {
        element.word = load<Word<sizeof(T)>>(from);
    } else {
        uint64_t word = 0;
        for (unsigned i = 0; i < sizeof(T); ++i)
            word |= uint64_t{load<uint8_t>(from + i)} << (8 * i);
        element.word = static_cast<Word<sizeof(T)>>(word);
    }
    return element.element[0];
}
template <class T>
UCD_GPU_FUNCTION void store_element(uintptr_t to, T value, bool aligned) {
    WordOfElements<T, 1> element;
    element.element[0] = value;
    if (aligned) return store<Word<sizeof(T)>>(to, element.word);
    for (unsigned i = 0; i < sizeof(T); ++i)
        store<uint8_t>(to + i, static_cast<uint8_t>(element.word >> (8 * i)));
}

template <class To, class From>
UCD_GPU_FUNCTION void convert_one(const ConvertParams &p, uintptr_t from, uintptr_t to) {
    const bool aligned = p.aligned != 0;
    const From value = load_element<From>(from, aligned);
    if constexpr (is_same<To, From>)
        store_element(to, value, aligned);
    else
        store_element(to, convert<To>(value, limit_of<To>(p.saturate != 0)), aligned);
}

template <class To, class From>
UCD_GPU_FUNCTION void convert_places_of_tile(const ConvertPlacesParams &p, uint32_t tile) {
    UCD_GPU_SHARED RowAddresses addresses;
    const bool saturate = p.saturate != 0, aligned = p.aligned != 0;
    if (p.in_vectors != 0) {
        constexpr unsigned each = elements_in_vector<To, From>;
        at_words_of_tile(p.places, tile, addresses, each * sizeof(From), each * sizeof(To),
                         [saturate](const auto &from, const auto &to) {
                             convert_words<To, From, each>(from, to, saturate);
                         });
        return;
    }
    at_words_of_tile(p.places, tile, addresses, sizeof(From), sizeof(To),
                     [saturate, aligned](const auto &from, const auto &to) {
                         for (unsigned i = 0; i < sizeof from / sizeof from[0]; ++i)
                             store_element(to[i],
                                           convert<To>(load_element<From>(from[i], aligned),
                                                       limit_of<To>(saturate)),
                                           aligned);
                     });
}

template <class To, class From>
UCD_GPU_FUNCTION void run_convert_places_batch(const BatchParams &batch) {
    run_member_tiles<ConvertPlacesParams>(batch, [](const ConvertPlacesParams &p, uint32_t tile) {
        convert_places_of_tile<To, From>(p, tile);
    });
}

// For pairs of elements without a kernel of their own, and for elements that are not aligned: one
// element at a time. Converted::pair() finds the C++ types.
template <class Converted>
UCD_GPU_FUNCTION void run_convert_any(const ConvertParams &p) {
    UCD_GPU_FOR_EACH_THREAD(thread) {
        for (uint32_t tile = UCD_GPU_BLOCK; tile < p.tiles; tile += UCD_GPU_BLOCKS)
            for (uint32_t i = 0; i < p.per_thread; ++i) {
                const uint32_t word = (tile * p.per_thread + i) * threads_per_block + thread;
                if (word >= p.words) break;
                at_words<1>(p, word, [&](const auto &from, const auto &to) {
                    Converted::pair(p, from[0], to[0]);
                });
            }
    }
}

} // namespace ucd::UCD_GPU
