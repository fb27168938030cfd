// Moves 16-byte vectors of the packed stream of a layout whose words have a width that is known at
// run time only.
#pragma once

#include "kernels/four_words.h"
#include "kernels/interpreter.h"
#include "kernels/runtime_width.h"

namespace ucd::UCD_GPU {

// What a thread needs of the member that its vectors belong to. `Layout` has the log2 of the width
// of words as `shift`, and whatever else the Places need to find an address.
template <class Layout>
struct MovedMember {
    Layout layout;
    uintptr_t packed; // the address of vector 0
    uint32_t first_word, head, tail;
};

// One vector of a member.
struct MovedVector {
    uintptr_t packed;    // address on the packed side
    uint32_t number;     // index within the member
    uint32_t head, tail; // bytes [head, tail) are in the range
    UCD_GPU_FUNCTION bool whole() const { return head == 0 && tail == vector_bytes; }
};

// `Places` has the type Layout, and finds the addresses of words:
//
//     find(layout, positions, places)       of words at the given positions in the stream
//     find(layout, position, apart, places) of words that are `apart` words from each other
//
// `known_width` is the width of words if the compiler knows it, else 0; then there is no second
// function.
template <Direction direction, class Places>
class VectorMove {
public:
    using Member = MovedMember<typename Places::Layout>;

    UCD_GPU_FUNCTION explicit VectorMove(const Places &places) : places_(places) {}

    UCD_GPU_FUNCTION void move_one(const Member &m, const MovedVector &v) const {
        const uint32_t word = m.first_word + (v.number << (4 - m.layout.shift));
        if (!v.whole()) return move_part(m, v, word);
        switch (m.layout.shift) {
        case 4: return move_several<16, 1>(m, v.number, 0);
        case 3: return move_several<8, 1>(m, v.number, 0);
        case 2: return move_several<4, 1>(m, v.number, 0);
        default: return move_narrow(m, v, word);
        }
    }

    // Unpacks as many vectors as a warp has lanes so that neighbouring threads store neighbouring
    // words.
    UCD_GPU_FUNCTION void unpack_narrow_group(const Member &m, uint32_t number,
                                              uint32_t lane) const {
        if (m.layout.shift == 1)
            unpack_neighbours<2>(m, number, lane);
        else
            unpack_neighbours<1>(m, number, lane);
    }

    // The same for words of a known width, which are narrower than a vector.
    template <unsigned width>
    UCD_GPU_FUNCTION void unpack_neighbours(const Member &m, uint32_t number, uint32_t lane) const {
        constexpr unsigned words = Vector<width>::words, at_once = words < 4 ? words : 4;
        const uint32_t first = number * words + lane;
#pragma unroll 1
        for (uint32_t word = first; word < first + words * warp_lanes;
             word += at_once * warp_lanes) {
            uintptr_t place[at_once];
            find(m, m.first_word + word, warp_lanes, place);
            const uintptr_t packed = m.packed + uint64_t{word} * width;
            Word<width> w[at_once];
#pragma unroll
            for (unsigned k = 0; k < at_once; ++k)
                w[k] = load<Word<width>>(packed + static_cast<uintptr_t>(k * warp_lanes * width));
#pragma unroll
            for (unsigned k = 0; k < at_once; ++k) store<Word<width>>(place[k], w[k]);
        }
    }

    // Moves whole vectors that are `apart` vectors from each other.
    template <unsigned width, unsigned vectors>
    UCD_GPU_FUNCTION void move_several(const Member &m, uint32_t number, uint32_t apart) const {
        using V = Vector<width>;
        const uint64_t step = uint64_t{apart} * vector_bytes;
        uintptr_t place[vectors * V::words];
        V v[vectors];
        if constexpr (Places::known_width != 0) {
#pragma unroll
            for (unsigned i = 0; i < vectors; ++i) {
                uintptr_t found[V::words];
                places_.find(m.layout, m.first_word + (number + i * apart) * V::words, 1, found);
#pragma unroll
                for (unsigned k = 0; k < V::words; ++k) place[i * V::words + k] = found[k];
            }
        } else {
            uint32_t position[vectors * V::words];
#pragma unroll
            for (unsigned i = 0; i < vectors * V::words; ++i)
                position[i] =
                    m.first_word + (number + i / V::words * apart) * V::words + i % V::words;
            places_.find(m.layout, position, place);
        }
        const uintptr_t packed = m.packed + uint64_t{number} * vector_bytes;
#pragma unroll
        for (unsigned i = 0; i < vectors; ++i) {
            if constexpr (direction == Direction::pack) {
#pragma unroll
                for (unsigned k = 0; k < V::words; ++k)
                    v[i].word[k] = load<Word<width>>(place[i * V::words + k]);
            } else {
                v[i].whole = load<Quad>(packed + i * step);
            }
        }
#pragma unroll
        for (unsigned i = 0; i < vectors; ++i) {
            if constexpr (direction == Direction::pack) {
                store<Quad>(packed + i * step, v[i].whole);
            } else {
#pragma unroll
                for (unsigned k = 0; k < V::words; ++k)
                    store<Word<width>>(place[i * V::words + k], v[i].word[k]);
            }
        }
    }

private:
    template <unsigned count>
    UCD_GPU_FUNCTION void find(const Member &m, uint32_t word, uint32_t apart,
                               uintptr_t (&place)[count]) const {
        if constexpr (Places::known_width != 0) {
            places_.find(m.layout, word, apart, place);
        } else {
            uint32_t position[count];
#pragma unroll
            for (unsigned i = 0; i < count; ++i) position[i] = word + i * apart;
            places_.find(m.layout, position, place);
        }
    }

    UCD_GPU_FUNCTION void move_narrow(const Member &m, const MovedVector &v, uint32_t word) const {
        if constexpr (Places::known_width == 1) {
            move_by_fours<1>(m, v, word);
        } else if constexpr (Places::known_width == 2) {
            if constexpr (Places::finds_many)
                move_several<2, 1>(m, v.number, 0);
            else
                move_by_fours<2>(m, v, word);
        } else if (m.layout.shift == 1) {
            move_by_fours<2>(m, v, word);
        } else {
            move_by_fours<1>(m, v, word);
        }
    }

    // Four words at a time: the addresses of more would need more registers.
    template <unsigned width>
    UCD_GPU_FUNCTION void move_by_fours(const Member &m, const MovedVector &vector,
                                        uint32_t first) const {
        move_fours<direction, width>(vector.packed, first,
                                     [&](uint32_t word, auto &place) { find(m, word, 1, place); });
    }

    // Moves a vector at an end of the range in words and bytes, one after the other.
    UCD_GPU_FUNCTION void move_part(const Member &m, const MovedVector &v, uint32_t word) const {
        const uint32_t shift = m.layout.shift < 3 ? m.layout.shift : 3;
        const uint32_t width = 1U << shift, mask = (1U << m.layout.shift) - 1;
#pragma unroll 1
        for (uint32_t i = v.head; i < v.tail;) {
            uintptr_t place[1];
            find(m, word + (i >> m.layout.shift), 1, place);
            const uintptr_t at = place[0] + (i & mask), packed = v.packed + i;
            const bool fits = (i & (width - 1)) == 0 && i + width <= v.tail;
            const uint32_t moved = fits ? shift : 0;
            if constexpr (direction == Direction::pack)
                store_word(packed, 1u << moved, load_word(at, 1u << moved));
            else
                store_word(at, 1u << moved, load_word(packed, 1u << moved));
            i += 1U << moved;
        }
    }

    const Places places_;
};

} // namespace ucd::UCD_GPU
