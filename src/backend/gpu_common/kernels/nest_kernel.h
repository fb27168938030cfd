// The body of every generated nest kernel. Neighbouring threads move neighbouring vectors of the
// packed stream, or unpack its neighbouring words. The address of a word is found by one division
// for each level.
#pragma once

#include "kernels/four_words.h"
#include "kernels/levels.h"
#include "kernels/load_bytes.h"
#include "kernels/nest_kernels.h"
#include "params/nest.h"

namespace ucd::UCD_GPU {

template <unsigned width, LevelKind... kinds>
UCD_GPU_FUNCTION uintptr_t place_of(const NestParams &p, uint32_t word) {
    int64_t displacement = 0;
    unsigned k = 0;
    ((descend<width, kinds>(p.level[k], p.list[k], word, displacement), ++k), ...);
    return p.typed + static_cast<uintptr_t>(displacement + word) * width;
}

// Moves a vector that may be only partly in the range, in words and bytes, one after the other.
template <Direction direction, unsigned width, LevelKind... kinds>
UCD_GPU_FUNCTION void move_words(const NestParams &p, uint32_t vector) {
    const uintptr_t packed = p.packed + static_cast<uintptr_t>(vector) * vector_bytes;
    const uint32_t word = p.first_word + vector * (vector_bytes / width);
    uint32_t i = vector == 0 ? p.head : 0;
    const uint32_t end = vector + 1 == p.vectors ? p.tail : vector_bytes;
    while (i < end) {
        const uintptr_t place = place_of<width, kinds...>(p, word + i / width) + i % width;
        if (i % width == 0 && i + width <= end) {
            if constexpr (direction == Direction::pack)
                store<Word<width>>(packed + i, load<Word<width>>(place));
            else
                store<Word<width>>(place, load<Word<width>>(packed + i));
            i += width;
            continue;
        }
        if constexpr (direction == Direction::pack)
            store<uint8_t>(packed + i, load<uint8_t>(place));
        else
            store<uint8_t>(place, load<uint8_t>(packed + i));
        ++i;
    }
}

// The addresses of the words of a whole vector.
template <unsigned width, LevelKind... kinds>
UCD_GPU_FUNCTION void places_of(const NestParams &p, uint32_t word, uintptr_t *places) {
    constexpr unsigned words = vector_bytes / width;
    constexpr unsigned innermost = sizeof...(kinds) - 1;
    constexpr LevelKind kind[] = {kinds...};
    if constexpr (words > 1 && kind[innermost] == LevelKind::strided) {
        if (p.together) {
            const int64_t step = int64_t{p.level[innermost].stride} * width;
            places[0] = place_of<width, kinds...>(p, word);
#pragma unroll
            for (unsigned k = 1; k < words; ++k)
                places[k] = places[k - 1] + static_cast<uintptr_t>(step);
            return;
        }
    }
#pragma unroll
    for (unsigned k = 0; k < words; ++k) places[k] = place_of<width, kinds...>(p, word + k);
}

// The same for runs whose children touch: one search for all words, and the next run is read where
// one ends.
template <unsigned width>
UCD_GPU_FUNCTION void places_in_runs(const NestParams &p, uint32_t word, uintptr_t *places) {
    constexpr unsigned words = vector_bytes / width;
    const NestList &list = p.list[0];
    const uint32_t each = p.level[0].each.value;
    uint32_t run = run_holding(list, quotient(word, p.level[0].each));
    uint32_t end = load_table(list_pointer<uint32_t>(list.first) + run + 1) * each;
    const uint32_t begin = load_table(list_pointer<uint32_t>(list.first) + run) * each;
    places[0] = p.typed +
                static_cast<uintptr_t>(displacement_at<width>(list, run) + (word - begin)) * width;
#pragma unroll
    for (unsigned k = 1; k < words; ++k) {
        places[k] = places[k - 1] + width;
        if (word + k != end) continue;
        ++run;
        places[k] = p.typed + static_cast<uintptr_t>(displacement_at<width>(list, run)) * width;
        end = load_table(list_pointer<uint32_t>(list.first) + run + 1) * each;
    }
}

// Moves `per_thread` vectors, `threads_per_block` apart, starting with `first`: first all loads,
// then all stores.
template <Direction direction, unsigned width, unsigned per_thread, bool in_runs,
          LevelKind... kinds>
UCD_GPU_FUNCTION void move_vectors(const NestParams &p, uint32_t first) {
    using V = Vector<width>;
    V v[per_thread];
    uintptr_t places[per_thread][V::words];
#pragma unroll
    for (unsigned i = 0; i < per_thread; ++i) {
        const uint32_t word = p.first_word + (first + i * threads_per_block) * V::words;
        if constexpr (in_runs)
            places_in_runs<width>(p, word, places[i]);
        else
            places_of<width, kinds...>(p, word, places[i]);
    }
    const uintptr_t packed = p.packed + static_cast<uintptr_t>(first) * vector_bytes;
    constexpr uintptr_t apart = uintptr_t{threads_per_block} * vector_bytes;
#pragma unroll
    for (unsigned i = 0; i < per_thread; ++i) {
        if constexpr (direction == Direction::pack) {
#pragma unroll
            for (unsigned k = 0; k < V::words; ++k) v[i].word[k] = load<Word<width>>(places[i][k]);
        } else {
            v[i].whole = load<Quad>(packed + i * apart);
        }
    }
#pragma unroll
    for (unsigned i = 0; i < per_thread; ++i) {
        if constexpr (direction == Direction::pack) {
            store<Quad>(packed + i * apart, v[i].whole);
        } else {
#pragma unroll
            for (unsigned k = 0; k < V::words; ++k) store<Word<width>>(places[i][k], v[i].word[k]);
        }
    }
}

// The number of words whose addresses a thread finds at a time: those of a vector, or fewer.
template <unsigned width, unsigned levels>
inline constexpr unsigned places_at_once =
    levels > 1 && width < 4 && tuning.narrow_words_by_four ? 4 : vector_bytes / width;

// Moves a vector of narrow words, four at a time.
template <Direction direction, unsigned width, LevelKind... kinds>
UCD_GPU_FUNCTION void move_narrow_vector(const NestParams &p, uint32_t vector) {
    move_fours<direction, width>(p.packed + static_cast<uintptr_t>(vector) * vector_bytes,
                                 p.first_word + vector * (vector_bytes / width),
                                 [&](uint32_t word, auto &places) {
#pragma unroll
                                     for (unsigned k = 0; k < 4; ++k)
                                         places[k] = place_of<width, kinds...>(p, word + k);
                                 });
}

// Packs a vector that has bytes of one or two blocks: an odd block has narrow words only because of
// the packed stream.
template <unsigned width, LevelKind... kinds>
UCD_GPU_FUNCTION void pack_pieces(const NestParams &p, uint32_t vector) {
    uint32_t word = p.first_word + vector * (vector_bytes / width), within = word;
    int64_t displacement = 0;
    unsigned k = 0;
    ((descend<width, kinds>(p.level[k], p.list[k], within, displacement), ++k), ...);
    const uint32_t left = p.level[sizeof...(kinds) - 1].each.value - within; // words of the block
    const uint32_t bytes = left * width;
    Vector<4> v = load_bytes(p.typed + static_cast<uintptr_t>(displacement + within) * width, 0,
                             bytes < vector_bytes ? bytes : vector_bytes);
    if (bytes < vector_bytes) {
        const Vector<4> next =
            load_bytes(place_of<width, kinds...>(p, word + left) - bytes, bytes, vector_bytes);
#pragma unroll
        for (unsigned i = 0; i < v.words; ++i) v.word[i] |= next.word[i];
    }
    store<Quad>(p.packed + static_cast<uintptr_t>(vector) * vector_bytes, v.whole);
}

// Moves whole vectors, and finds the addresses in the fastest way that the levels allow.
template <Direction direction, unsigned width, unsigned per_thread, LevelKind... kinds>
UCD_GPU_FUNCTION void move_whole_vectors(const NestParams &p, uint32_t first) {
    constexpr LevelKind kind[] = {kinds...};
    if constexpr (direction == Direction::pack && width < 4 &&
                  ((kinds == LevelKind::strided) && ...)) {
        if (p.pieces > 0 && first >= p.pieces && p.vectors - first > p.pieces)
            return pack_pieces<width, kinds...>(p, first);
    }
    if constexpr (sizeof...(kinds) == 1 && width < vector_bytes) {
        if constexpr (kind[0] == LevelKind::indexed) {
            if (direction == Direction::pack && p.together)
                return move_vectors<direction, width, per_thread, true>(p, first);
        }
    }
    if constexpr (places_at_once<width, sizeof...(kinds)> < vector_bytes / width) {
        static_assert(per_thread == 1);
        move_narrow_vector<direction, width, kinds...>(p, first);
    } else {
        move_vectors<direction, width, per_thread, false, kinds...>(p, first);
    }
}

// Unpacks a tile that is in the range as a whole, in words narrower than a vector. Neighbouring
// threads take neighbouring words, not vectors: a store of a warp then writes the memory that it
// touches completely, and no later store touches it again.
template <unsigned width, unsigned per_thread, LevelKind... kinds>
UCD_GPU_FUNCTION void unpack_neighbours(const NestParams &p, uint32_t start, uint32_t thread) {
    constexpr unsigned words = per_thread * Vector<width>::words;
    constexpr unsigned at_once = per_thread * places_at_once<width, sizeof...(kinds)>;
    const uint32_t vector = start + thread / warp_lanes * warp_lanes * per_thread;
    uint32_t first = vector * Vector<width>::words + thread % warp_lanes;
#pragma unroll 1
    for (unsigned done = 0; done < words; done += at_once, first += at_once * warp_lanes) {
        uintptr_t places[at_once];
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k)
            places[k] = place_of<width, kinds...>(p, p.first_word + first + k * warp_lanes);
        const uintptr_t packed = p.packed + static_cast<uintptr_t>(first) * width;
        Word<width> word[at_once];
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k)
            word[k] = load<Word<width>>(packed + static_cast<uintptr_t>(k * warp_lanes * width));
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k) store<Word<width>>(places[k], word[k]);
    }
}

template <Direction direction, unsigned width, LevelKind... kinds>
UCD_GPU_FUNCTION void move_tile(const NestParams &p, uint32_t tile, uint32_t thread) {
    const uint32_t start = tile * threads_per_block * p.per_thread;
    const uint32_t end = start + threads_per_block * p.per_thread;
    constexpr unsigned several = max_per_thread<width, sizeof...(kinds)>;
    if ((start > 0 || p.head == 0) && end < p.vectors) {
        if constexpr (direction == Direction::unpack && width < vector_bytes) {
            if (p.neighbours) {
                if constexpr (several > 1) {
                    if (p.per_thread > 1)
                        return unpack_neighbours<width, several, kinds...>(p, start, thread);
                }
                return unpack_neighbours<width, 1, kinds...>(p, start, thread);
            }
        }
        if constexpr (several > 1) {
            if (p.per_thread > 1)
                return move_whole_vectors<direction, width, several, kinds...>(p, start + thread);
        }
    }
    for (uint32_t vector = start + thread; vector < end; vector += threads_per_block) {
        if (vector >= p.vectors) return;
        const bool whole =
            (vector > 0 || p.head == 0) && (vector + 1 < p.vectors || p.tail == vector_bytes);
        if (whole)
            move_whole_vectors<direction, width, 1, kinds...>(p, vector);
        else
            move_words<direction, width, kinds...>(p, vector);
    }
}

template <Direction direction, unsigned width, LevelKind... kinds>
UCD_GPU_FUNCTION void run_nest(const NestParams &p) {
    UCD_GPU_FOR_EACH_THREAD(thread) {
        for (uint32_t tile = UCD_GPU_BLOCK; tile < p.tiles; tile += UCD_GPU_BLOCKS)
            move_tile<direction, width, kinds...>(p, tile, thread);
    }
}

} // namespace ucd::UCD_GPU
