// The body of every generated kernel. Neighbouring threads move neighbouring vectors of the packed
// stream; each word finds its place by a division per level.
#pragma once

#include "nest.h"

namespace ucd::UCD_GPU {

UCD_GPU_FUNCTION int64_t displacement_at(const NestLevel &level, uint32_t index) {
    if (level.displacement_unit == 0)
        return load_table(static_cast<const int64_t *>(level.displacements) + index);
    return static_cast<int64_t>(
               load_table(static_cast<const int32_t *>(level.displacements) + index)) *
           static_cast<int64_t>(level.displacement_unit);
}

// The run that holds a child. The search is within one granule of children.
UCD_GPU_FUNCTION uint32_t run_holding(const NestLevel &level, uint32_t child) {
    const uint32_t *start = level.starts + (child >> level.granule);
    uint32_t low = load_table(start), high = load_table(start + 1);
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;
        if (load_table(level.first + middle) <= child)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// Takes `position` from words of the level to words of its child.
template <LevelKind kind>
UCD_GPU_FUNCTION void descend(const NestLevel &level, uint32_t &position, int64_t &displacement) {
    const uint32_t child = level.each.quotient(position);
    position -= child * level.each.value;
    if constexpr (kind == LevelKind::strided) {
        displacement += static_cast<int64_t>(child) * level.stride;
    } else if constexpr (kind == LevelKind::uniform) {
        displacement += displacement_at(level, child);
    } else {
        const uint32_t run = run_holding(level, child);
        const uint32_t in_run = child - load_table(level.first + run);
        displacement += displacement_at(level, run) + static_cast<int64_t>(in_run) * level.stride;
    }
}

template <unsigned width, LevelKind... kinds>
UCD_GPU_FUNCTION uintptr_t place_of(const NestParams &p, uint32_t word) {
    int64_t displacement = 0;
    unsigned k = 0;
    (descend<kinds>(p.level[k++], word, displacement), ...);
    return p.laid_out + static_cast<uintptr_t>(displacement) +
           static_cast<uintptr_t>(word) * width;
}

// The bytes [from, to) of a vector that is not in the range as a whole.
template <Direction direction, unsigned width, LevelKind... kinds>
UCD_GPU_FUNCTION void move_bytes(const NestParams &p, uint32_t vector, uint32_t from, uint32_t to) {
    const uintptr_t packed = p.packed + static_cast<uintptr_t>(vector) * vector_bytes;
    const uint32_t word = p.first_word + vector * (vector_bytes / width);
    for (uint32_t i = from; i < to; ++i) {
        const uintptr_t place = place_of<width, kinds...>(p, word + i / width) + i % width;
        if constexpr (direction == Direction::pack)
            store<uint8_t>(packed + i, load<uint8_t>(place));
        else
            store<uint8_t>(place, load<uint8_t>(packed + i));
    }
}

template <Direction direction, unsigned width, LevelKind... kinds>
UCD_GPU_FUNCTION void move_tile(const NestParams &p, uint32_t tile, uint32_t thread) {
    constexpr unsigned per_thread = vectors_per_thread<width>;
    using V = Vector<width>;
    const uint32_t first = tile * (threads_per_block * per_thread) + thread;
    V v[per_thread];
    bool whole[per_thread];
#pragma unroll
    for (unsigned i = 0; i < per_thread; ++i) {
        const uint32_t vector = first + i * threads_per_block;
        const uint32_t head = vector == 0 ? p.head : 0;
        const uint32_t tail = vector + 1 == p.vectors ? p.tail : vector_bytes;
        whole[i] = vector < p.vectors && head == 0 && tail == vector_bytes;
        if (!whole[i]) {
            if (vector < p.vectors)
                move_bytes<direction, width, kinds...>(p, vector, head, tail);
            continue;
        }
        const uint32_t word = p.first_word + vector * V::words;
        if constexpr (direction == Direction::pack) {
#pragma unroll
            for (unsigned k = 0; k < V::words; ++k)
                v[i].word[k] = load<Word<width>>(place_of<width, kinds...>(p, word + k));
        } else {
            v[i].whole =
                load<Quad>(p.packed + static_cast<uintptr_t>(vector) * vector_bytes);
        }
    }
#pragma unroll
    for (unsigned i = 0; i < per_thread; ++i) {
        if (!whole[i]) continue;
        const uint32_t vector = first + i * threads_per_block;
        const uint32_t word = p.first_word + vector * V::words;
        if constexpr (direction == Direction::pack) {
            store<Quad>(p.packed + static_cast<uintptr_t>(vector) * vector_bytes, v[i].whole);
        } else {
#pragma unroll
            for (unsigned k = 0; k < V::words; ++k)
                store<Word<width>>(place_of<width, kinds...>(p, word + k), v[i].word[k]);
        }
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
