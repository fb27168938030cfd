// The bodies of the kernels that move batches.
#pragma once

#include "kernels/copy_moves.h"
#include "kernels/entry_holding.h"
#include "kernels/table_places.h"
#include "kernels/vector_move.h"
#include "params/batch.h"

namespace ucd::UCD_GPU {

template <Direction direction, class Table>
class BatchMove {
public:
    UCD_GPU_FUNCTION BatchMove(const Table &table, const BatchSections &sections)
        : table_(table), s_(sections), places_(table, sections.shapes, sections.lists),
          moves_(places_) {}

    UCD_GPU_FUNCTION void move_tile(uint32_t tile, uint32_t thread) const {
        const uint32_t lane = thread % warp_lanes;
        const uint32_t group = (tile * threads_per_block + thread - lane) * s_.per_thread;
        uint32_t vector = group + lane;
        for (uint32_t i = 0; i < s_.per_thread && vector < s_.vectors; ++i) {
            const uint32_t member = member_holding(vector);
            const uint32_t begin = first_of(member), end = first_of(member + 1);
            const Member m = member_at(member);
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
                if (m.layout.shift == 4)
                    return moves_.template move_several<16, 4>(m, number, warp_lanes);
                if (m.layout.shift == 3) {
                    moves_.template move_several<8, 2>(m, number, warp_lanes);
                    return moves_.template move_several<8, 2>(m, number + 2 * warp_lanes,
                                                              warp_lanes);
                }
            }
            MovedVector v;
            v.number = vector - begin;
            v.packed = m.packed + uint64_t{v.number} * vector_bytes;
            v.head = vector == begin ? m.head : 0;
            v.tail = vector + 1 == end ? m.tail : vector_bytes;
            move_one(m, v);
            vector += warp_lanes;
        }
    }

private:
    using Moves = VectorMove<direction, TablePlaces<Table>>;
    using Member = typename Moves::Member;

    UCD_GPU_INLINED_FUNCTION static uint32_t first_in(Table table, uint32_t member) {
        return table.template entry<uint32_t>(0, member);
    }
    UCD_GPU_FUNCTION uint32_t first_of(uint32_t member) const { return first_in(table_, member); }

    UCD_GPU_FUNCTION uint32_t member_holding(uint32_t vector) const {
        const uint32_t granule = vector >> s_.granule;
        return entry_holding<first_in>(vector, table_.template entry<uint32_t>(s_.starts, granule),
                                       table_.template entry<uint32_t>(s_.starts, granule + 1),
                                       table_);
    }

    UCD_GPU_FUNCTION Member member_at(uint32_t member) const {
        const Quad a = table_.template entry<Quad>(s_.members, member * 2);
        const Quad b = table_.template entry<Quad>(s_.members, member * 2 + 1);
        return {places_.at(b.y, joined(a.x, a.y)), joined(a.z, a.w), b.x, b.z, b.w};
    }

    UCD_GPU_FUNCTION void move_one(const Member &m, const MovedVector &v) const {
        if (m.layout.levels == levels_of_interpreter) return move_by_interpreter(m, v);
        moves_.move_one(m, v);
    }

    UCD_GPU_FUNCTION void unpack_narrow_group(const Member &m, uint32_t number,
                                              uint32_t lane) const {
#pragma unroll 1
        for (uint32_t i = 0; i < s_.per_thread; ++i, number += warp_lanes)
            moves_.unpack_narrow_group(m, number, lane);
    }

    UCD_GPU_FUNCTION void move_by_interpreter(const Member &m, const MovedVector &v) const {
        uint64_t position;
        const InterpretedLayout layout = places_.interpreted(m.layout, position);
        position += uint64_t{v.number} * vector_bytes;
        const uint32_t shift = !v.whole() ? 0 : m.layout.shift < 3 ? m.layout.shift : 3;
        const auto typed = [&](uint64_t i) { return locate(layout, position + i); };
        const auto packed = [&](uint64_t i) {
            return Stretch{v.packed + i, vector_bytes, nullptr};
        };
        if constexpr (direction == Direction::pack)
            copy_stretches(v.head, v.tail, shift, typed, packed);
        else
            copy_stretches(v.head, v.tail, shift, packed, typed);
    }

    const Table &table_;
    const BatchSections &s_;
    const TablePlaces<Table> places_;
    const Moves moves_;
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
