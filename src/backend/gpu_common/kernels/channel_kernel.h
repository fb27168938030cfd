// The body of the kernels that move a few channels, such as the colours of an image: one side has a
// line for each channel, the other one has the channels of each position together. A thread has a
// vector of each channel, and threads exchange vectors so that neighbours access neighbouring ones.
#pragma once

#include "kernels/find_on_both.h"
#include "kernels/words.h"
#include "params/tiles.h"

namespace ucd::UCD_GPU {

// A thread knows this of its tile, and moves its part of it. A tile has vectors of lines that
// follow each other, so that short lines leave no thread without work.
template <unsigned width, unsigned channels>
struct ChannelMove {
    using V = Vector<width>;

    const TilesParams &p;
    Quad *memory;          // shared
    uint32_t first, count; // the tile's vectors of a channel

    // The addresses of these vectors.
    template <unsigned vectors>
    UCD_GPU_FUNCTION void find(uint32_t (&vector)[vectors], uintptr_t (&from)[vectors],
                               uintptr_t (&to)[vectors]) const {
        find_on_both(p.level + 2, p.outer_levels, vector, from, to);
    }
    // The place of a vector of the side that has the channels together. Neighbouring threads access
    // vectors that are `channels` apart. A gap after each eight vectors lets them use different
    // banks.
    UCD_GPU_FUNCTION static uint32_t place(uint32_t vector) {
        return channels % 2 != 0 ? vector : vector + vector / 8;
    }
    // Calls move(place in shared memory, source, target) for a thread's vectors of that side.
    template <class Move>
    UCD_GPU_FUNCTION void for_together(uint32_t thread, Move move) const {
        uint32_t vector[channels];
        uintptr_t from[channels], to[channels];
#pragma unroll
        for (unsigned k = 0; k < channels; ++k) {
            const uint32_t number = thread + k * threads_per_block;
            vector[k] = first + number / channels;
            const uintptr_t within = uintptr_t{number % channels} * vector_bytes;
            from[k] = p.from + within;
            to[k] = p.to + within;
        }
        find(vector, from, to);
#pragma unroll
        for (unsigned k = 0; k < channels; ++k) {
            const uint32_t number = thread + k * threads_per_block;
            if (number < count * channels) move(memory[place(number)], from[k], to[k]);
        }
    }
    // Calls move(element of a line, element of those together) for those of a thread.
    template <class Move>
    UCD_GPU_FUNCTION static void for_elements(V (&line)[channels], V (&together)[channels],
                                              Move move) {
#pragma unroll
        for (unsigned i = 0; i < channels * V::words; ++i)
            move(line[i % channels].word[i / channels], together[i / V::words].word[i % V::words]);
    }

    UCD_GPU_FUNCTION void load_lines(uint32_t thread) const {
        if (thread >= count) return;
        V line[channels], together[channels];
        uint32_t vector[1] = {first + thread};
        uintptr_t from[1] = {p.from}, to[1] = {p.to};
        find(vector, from, to);
#pragma unroll
        for (unsigned c = 0; c < channels; ++c)
            line[c].whole = load<Quad>(from[0] + c * static_cast<uint64_t>(p.level[1].from));
        for_elements(line, together, [](Word<width> in, Word<width> &out) { out = in; });
#pragma unroll
        for (unsigned k = 0; k < channels; ++k)
            memory[place(thread * channels + k)] = together[k].whole;
    }
    UCD_GPU_FUNCTION void store_lines(uint32_t thread) const {
        if (thread >= count) return;
        V line[channels], together[channels];
        uint32_t vector[1] = {first + thread};
        uintptr_t from[1] = {p.from}, to[1] = {p.to};
        find(vector, from, to);
#pragma unroll
        for (unsigned k = 0; k < channels; ++k)
            together[k].whole = memory[place(thread * channels + k)];
        for_elements(line, together, [](Word<width> &out, Word<width> in) { out = in; });
#pragma unroll
        for (unsigned c = 0; c < channels; ++c)
            store<Quad>(to[0] + c * static_cast<uint64_t>(p.level[1].to), line[c].whole);
    }
    UCD_GPU_FUNCTION bool lines_to_one() const {
        return p.level[0].from == width;
    }
    UCD_GPU_FUNCTION void load_part(uint32_t thread) const {
        if (lines_to_one()) return load_lines(thread);
        for_together(thread,
                     [](Quad &held, uintptr_t from, uintptr_t) { held = load<Quad>(from); });
    }
    UCD_GPU_FUNCTION void store_part(uint32_t thread) const {
        if (!lines_to_one()) return store_lines(thread);
        for_together(thread,
                     [](const Quad &held, uintptr_t, uintptr_t to) { store<Quad>(to, held); });
    }
};

// Calls what(move) for the number of channels, which is a constant in the code.
template <unsigned width, class What>
UCD_GPU_FUNCTION void with_channels(const TilesParams &p, Quad *memory, uint32_t index, What what) {
    const uint32_t first = index * threads_per_block, left = p.columns - first;
    const uint32_t count = left < threads_per_block ? left : threads_per_block;
    switch (p.channels) {
    case 2: return what(ChannelMove<width, 2>{p, memory, first, count});
    case 3: return what(ChannelMove<width, 3>{p, memory, first, count});
    default: return what(ChannelMove<width, max_channels>{p, memory, first, count});
    }
}

// Called by all threads of a block. No barrier is in a branch: with one in each case of the number
// of channels, PoCL 3.1 moved wrong bytes.
template <unsigned width>
UCD_GPU_FUNCTION void move_channels(const TilesParams &p, uint32_t index) {
    constexpr unsigned most = max_channels * threads_per_block;
    UCD_GPU_SHARED Quad memory[most + most / 8];
    UCD_GPU_FOR_EACH_THREAD(thread) {
        with_channels<width>(p, memory, index,
                             [thread](const auto &move) { move.load_part(thread); });
    }
    UCD_GPU_BARRIER();
    UCD_GPU_FOR_EACH_THREAD(thread) {
        with_channels<width>(p, memory, index,
                             [thread](const auto &move) { move.store_part(thread); });
    }
    UCD_GPU_BARRIER();
}

} // namespace ucd::UCD_GPU
