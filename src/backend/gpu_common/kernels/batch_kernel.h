// The bodies of the kernels that move batches.
#pragma once

#include "kernels/runtime_width.h"
#include "kernels/table_places.h"
#include "params/batch.h"

namespace ucd::UCD_GPU {

// What a thread needs of the member that its vector belongs to.
struct MovedMember {
    Walked layout;
    uintptr_t packed;
    uint32_t first_word, head, tail;
};

// One vector of a member.
struct BatchVector {
    uintptr_t packed;    // address on the packed side
    uint32_t number;     // index within the member
    uint32_t head, tail; // bytes [head, tail) are in the range
    UCD_GPU_FUNCTION bool whole() const { return head == 0 && tail == vector_bytes; }
};

template <Direction direction, class Table>
class BatchMove {
public:
    UCD_GPU_FUNCTION BatchMove(const Table &table, const BatchSections &sections)
        : table_(table), s_(sections), places_(table, sections.shapes, sections.lists) {}

    UCD_GPU_FUNCTION void move_tile(uint32_t tile, uint32_t thread) const {
        const uint32_t lane = thread % warp_lanes;
        const uint32_t group = (tile * threads_per_block + thread - lane) * s_.per_thread;
        uint32_t vector = group + lane;
        for (uint32_t i = 0; i < s_.per_thread && vector < s_.vectors; ++i) {
            const uint32_t member = member_holding(vector);
            const uint32_t begin = first_of(member), end = first_of(member + 1);
            const MovedMember m = member_at(member);
            if constexpr (direction == Direction::unpack) {
                if (i == 0 && s_.neighbours && m.layout.shift < 2 &&
                    m.layout.levels != levels_of_interpreter) {
                    const uint32_t after = group + warp_lanes * s_.per_thread;
                    const bool whole = group >= begin && (group > begin || m.head == 0) &&
                                       after <= end && (after < end || m.tail == vector_bytes);
                    if (whole) return unpack_narrow_group(m, group - begin, lane);
                }
            }
            // Moves all vectors of the thread at once: first all loads, then all stores.
            const uint32_t last = vector + (max_batch_vectors_per_thread - 1) * warp_lanes;
            const bool whole = (vector > begin || m.head == 0) &&
                               (last + 1 < end || (last + 1 == end && m.tail == vector_bytes));
            if (s_.per_thread > 1 && i == 0 && whole && m.layout.levels != levels_of_interpreter) {
                const uint32_t number = vector - begin;
                if (m.layout.shift == 4) return move_several<16, 4>(m, number);
                if (m.layout.shift == 3) {
                    move_several<8, 2>(m, number);
                    return move_several<8, 2>(m, number + 2 * warp_lanes);
                }
            }
            BatchVector v;
            v.number = vector - begin;
            v.packed = m.packed + uint64_t{v.number} * vector_bytes;
            v.head = vector == begin ? m.head : 0;
            v.tail = vector + 1 == end ? m.tail : vector_bytes;
            move_one(m, v);
            vector += warp_lanes;
        }
    }

private:
    UCD_GPU_FUNCTION uint32_t first_of(uint32_t member) const {
        return table_.template entry<uint32_t>(0, member);
    }

    UCD_GPU_FUNCTION uint32_t member_holding(uint32_t vector) const {
        const uint32_t granule = vector >> s_.granule;
        uint32_t low = table_.template entry<uint32_t>(s_.starts, granule);
        uint32_t high = table_.template entry<uint32_t>(s_.starts, granule + 1);
        while (low < high) {
            const uint32_t middle = (low + high + 1) / 2;
            if (first_of(middle) <= vector)
                low = middle;
            else
                high = middle - 1;
        }
        return low;
    }

    UCD_GPU_FUNCTION MovedMember member_at(uint32_t member) const {
        const Quad a = table_.template entry<Quad>(s_.members, member * 2);
        const Quad b = table_.template entry<Quad>(s_.members, member * 2 + 1);
        return {places_.at(b.y, joined(a.x, a.y)), joined(a.z, a.w), b.x, b.z, b.w};
    }

    UCD_GPU_FUNCTION void move_one(const MovedMember &m, const BatchVector &v) const {
        if (m.layout.levels == levels_of_interpreter) return move_by_interpreter(m, v);
        const uint32_t word = m.first_word + (v.number << (4 - m.layout.shift));
        if (!v.whole()) return move_part(m, v, word);
        switch (m.layout.shift) {
        case 4: return move_several<16, 1>(m, v.number);
        case 3: return move_several<8, 1>(m, v.number);
        case 2: return move_several<4, 1>(m, v.number);
        default: return move_narrow_words(m, v, word);
        }
    }

    // Unpacks the vectors of a group of threads so that neighbouring threads store neighbouring
    // words. Wider words do not gain from this.
    UCD_GPU_FUNCTION void unpack_narrow_group(const MovedMember &m, uint32_t number,
                                              uint32_t lane) const {
#pragma unroll 1
        for (uint32_t i = 0; i < s_.per_thread; ++i, number += warp_lanes) {
            if (m.layout.shift == 1)
                unpack_neighbours<2>(m, number, lane);
            else
                unpack_neighbours<1>(m, number, lane);
        }
    }
    template <unsigned width>
    UCD_GPU_FUNCTION void unpack_neighbours(const MovedMember &m, uint32_t number,
                                            uint32_t lane) const {
        constexpr unsigned words = Vector<width>::words, at_once = 4;
        const uint32_t first = number * words + lane;
#pragma unroll 1
        for (uint32_t word = first; word < first + words * warp_lanes;
             word += at_once * warp_lanes) {
            uintptr_t place[at_once];
            places_.find(m.layout, m.first_word + word, warp_lanes, place);
            const uintptr_t packed = m.packed + uint64_t{word} * width;
            Word<width> w[at_once];
#pragma unroll
            for (unsigned k = 0; k < at_once; ++k)
                w[k] = load<Word<width>>(packed + static_cast<uintptr_t>(k * warp_lanes * width));
#pragma unroll
            for (unsigned k = 0; k < at_once; ++k) store<Word<width>>(place[k], w[k]);
        }
    }

    // Moves words of one or two bytes, four at a time.
    UCD_GPU_FUNCTION void move_narrow_words(const MovedMember &m, const BatchVector &vector,
                                            uint32_t word) const {
        Bytes16 bytes;
        if constexpr (direction == Direction::unpack) bytes.set(load<Quad>(vector.packed));
#pragma unroll 1
        for (uint32_t at = 0; at < vector_bytes; at += 4 << m.layout.shift, word += 4) {
            uintptr_t place[4];
            places_.find(m.layout, word, 1, place);
            if constexpr (direction == Direction::pack) {
                uint64_t w[4];
#pragma unroll
                for (unsigned k = 0; k < 4; ++k)
                    w[k] = m.layout.shift == 0 ? load<uint8_t>(place[k]) : load<uint16_t>(place[k]);
#pragma unroll
                for (unsigned k = 0; k < 4; ++k) bytes.put(at + (k << m.layout.shift), w[k]);
            } else {
#pragma unroll
                for (unsigned k = 0; k < 4; ++k)
                    store_word(place[k], 1u << m.layout.shift,
                               bytes.get(at + (k << m.layout.shift)));
            }
        }
        if constexpr (direction == Direction::pack) store<Quad>(vector.packed, bytes.quad());
    }

    // Moves a vector at an end of the range in words and bytes, one after the other.
    UCD_GPU_FUNCTION void move_part(const MovedMember &m, const BatchVector &v,
                                    uint32_t word) const {
        const uint32_t shift = m.layout.shift < 3 ? m.layout.shift : 3;
        const uint32_t width = 1U << shift, mask = (1U << m.layout.shift) - 1;
#pragma unroll 1
        for (uint32_t i = v.head; i < v.tail;) {
            uintptr_t place[1];
            places_.find(m.layout, word + (i >> m.layout.shift), 1, place);
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

    // Moves whole vectors that are warp_lanes apart.
    template <unsigned width, unsigned vectors>
    UCD_GPU_FUNCTION void move_several(const MovedMember &m, uint32_t number) const {
        using V = Vector<width>;
        constexpr uint64_t apart = uint64_t{warp_lanes} * vector_bytes;
        uint32_t position[vectors * V::words];
        uintptr_t place[vectors * V::words];
        V v[vectors];
#pragma unroll
        for (unsigned i = 0; i < vectors * V::words; ++i)
            position[i] =
                m.first_word + (number + i / V::words * warp_lanes) * V::words + i % V::words;
        places_.find(m.layout, position, place);
        const uintptr_t packed = m.packed + uint64_t{number} * vector_bytes;
#pragma unroll
        for (unsigned i = 0; i < vectors; ++i) {
            if constexpr (direction == Direction::pack) {
#pragma unroll
                for (unsigned k = 0; k < V::words; ++k)
                    v[i].word[k] = load<Word<width>>(place[i * V::words + k]);
            } else {
                v[i].whole = load<Quad>(packed + i * apart);
            }
        }
#pragma unroll
        for (unsigned i = 0; i < vectors; ++i) {
            if constexpr (direction == Direction::pack) {
                store<Quad>(packed + i * apart, v[i].whole);
            } else {
#pragma unroll
                for (unsigned k = 0; k < V::words; ++k)
                    store<Word<width>>(place[i * V::words + k], v[i].word[k]);
            }
        }
    }

    UCD_GPU_FUNCTION void move_by_interpreter(const MovedMember &m, const BatchVector &v) const {
        uint64_t position;
        const InterpretedLayout layout = places_.interpreted(m.layout, position);
        position += uint64_t{v.number} * vector_bytes;
        const uint32_t shift = !v.whole() ? 0 : m.layout.shift < 3 ? m.layout.shift : 3;
#pragma unroll 1
        for (uint32_t i = v.head; i < v.tail;) {
            Stretch s = locate(layout, position + i);
            if (s.bytes > v.tail - i) s.bytes = v.tail - i;
            const auto end = i + static_cast<uint32_t>(s.bytes);
#pragma unroll 1
            for (; i < end; i += 1U << shift, s.place += uint64_t{1} << shift) {
                if constexpr (direction == Direction::pack)
                    store_word(v.packed + i, 1u << shift, load_word(s.place, 1u << shift));
                else
                    store_word(s.place, 1u << shift, load_word(v.packed + i, 1u << shift));
            }
        }
    }

    const Table &table_;
    const BatchSections &s_;
    const TablePlaces<Table> places_;
};

template <Direction direction, class Table>
UCD_GPU_FUNCTION void run_batch(const Table &table, const BatchSections &sections) {
    const BatchMove<direction, Table> move(table, sections);
    UCD_GPU_FOR_EACH_THREAD(thread) {
        for (uint32_t tile = UCD_GPU_BLOCK; tile < sections.tiles; tile += UCD_GPU_BLOCKS)
            move.move_tile(tile, thread);
    }
}

} // namespace ucd::UCD_GPU
