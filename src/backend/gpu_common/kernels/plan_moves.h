// Packs, unpacks and copies by a device plan, with the threads of a group.
#pragma once

#include "kernels/aligned_stores.h"
#include "kernels/copy_moves.h"
#include "kernels/copy_order.h"
#include "kernels/known_plan.h"
#include "kernels/vector_move.h"

namespace ucd::UCD_GPU {

// A thread of a group. No more threads have work than max_divided bytes have vectors, so the
// numbers may be limited, which keeps their multiples in 32 bits.
struct GroupThread {
    uint32_t rank, size;
};

template <class Group>
UCD_GPU_FUNCTION uint32_t threads_of(const Group &group) {
    constexpr uint64_t most = uint64_t{1} << 28;
    const uint64_t size = group.size();
    return static_cast<uint32_t>(size < most ? size : most);
}

// Calls body(thread) for the threads of the group that may have work.
template <class Group, class Body>
UCD_GPU_FUNCTION void for_threads_of(const Group &group, const Body &body) {
    const uint32_t size = threads_of(group);
    UCD_GPU_FOR_EACH_RANK(group, rank) {
        if (rank < size) body(GroupThread{static_cast<uint32_t>(rank), size});
    }
}

// The log2 of the widest word that divides everything whose bitwise or is `bits`.
UCD_GPU_FUNCTION uint32_t word_shift(uint32_t word, uint64_t bits) {
    bits |= uint64_t{1} << word;
    uint32_t shift = 0;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) shift += (bits & ((uint64_t{2} << i) - 1)) == 0 ? 1 : 0;
    return shift;
}

// The vectors of the packed side that contain the bytes of a range.
struct PlanVectors {
    uintptr_t start;
    uint64_t count;
    uint32_t head, tail; // see NestParams
};

UCD_GPU_FUNCTION PlanVectors vectors_of(uintptr_t packed, uint64_t bytes) {
    PlanVectors v;
    v.start = packed & ~uintptr_t{vector_bytes - 1};
    v.head = static_cast<uint32_t>(packed - v.start);
    v.count = (v.head + bytes + (vector_bytes - 1)) / vector_bytes;
    v.tail = static_cast<uint32_t>(v.head + bytes - (v.count - 1) * vector_bytes);
    return v;
}

// Moves the thread's share of a range: vectors that are as far apart as the group is large.
template <Direction direction, class Places>
UCD_GPU_FUNCTION void move_share(const VectorMove<direction, Places> &moves,
                                 const MovedMember<typename Places::Layout> &m, uint32_t vectors,
                                 GroupThread thread) {
    const uint32_t whole_end = m.tail == vector_bytes ? vectors : vectors - 1;
    const uint32_t lane = thread.rank % warp_lanes;
    const bool by_warps =
        direction == Direction::unpack && m.layout.shift < 4 && thread.size % warp_lanes == 0;
#pragma unroll 1
    for (uint32_t v = thread.rank; v < vectors + lane;) {
        if constexpr (direction == Direction::unpack) {
            const uint32_t first = v - lane;
            if (by_warps && (first > 0 || m.head == 0) && first + warp_lanes <= whole_end) {
                if (m.layout.shift == 3)
                    moves.template unpack_neighbours<8>(m, first, lane);
                else if (m.layout.shift == 2)
                    moves.template unpack_neighbours<4>(m, first, lane);
                else
                    moves.unpack_narrow_group(m, first, lane);
                v += thread.size;
                continue;
            }
        }
        if (v >= vectors) return;
        const bool starts_whole = v > 0 || m.head == 0;
        if (m.layout.shift == 4 && starts_whole && v + 3 * thread.size < whole_end) {
            moves.template move_several<16, 4>(m, v, thread.size);
            v += 4 * thread.size;
            continue;
        }
        // Where lanes share vectors, all of them advance alike.
        if (m.layout.shift == 3 && !by_warps && starts_whole && v + thread.size < whole_end) {
            moves.template move_several<8, 2>(m, v, thread.size);
            v += 2 * thread.size;
            continue;
        }
        MovedVector one;
        one.number = v;
        one.packed = m.packed + uint64_t{v} * vector_bytes;
        one.head = v == 0 ? m.head : 0;
        one.tail = v + 1 == vectors ? m.tail : vector_bytes;
        moves.move_one(m, one);
        v += thread.size;
    }
}

// Unpacks a range with aligned stores.
UCD_GPU_FUNCTION void store_share(const ucd_device_plan_t &plan, const PlanRange &r,
                                  uintptr_t packed, GroupThread thread) {
    AlignedStoresRange range;
    range.list = plan.stores;
    range.packed = packed - r.before;
    range.begin = r.before;
    range.end = r.before + r.bytes;
    range.stores = {plan.store_count, plan.store_magic, plan.store_shift};
    // Constant indices, as in list_at().
    const unsigned last_level = plan.store_levels - 1u;
    const ucd_device_level_t &period = last_level == 0   ? plan.level[0]
                                       : last_level == 1 ? plan.level[1]
                                                         : plan.level[2];
    const Divisor by_period = divisor_of(period);
    range.first = quotient(r.before, by_period);
    const uint32_t last = quotient(static_cast<uint32_t>(range.end - 1), by_period);
    range.count = (last - range.first + 1) * plan.store_count;
#pragma unroll 1
    for (uint32_t i = thread.rank; i < range.count; i += thread.size)
        unpack_aligned_store(range, i, [&](uint32_t number) {
            uint32_t at = number * by_period.value;
            Period found{r.typed, at};
#pragma unroll
            for (unsigned k = 0; k + 1 < max_plan_levels; ++k) {
                if (k >= plan.store_levels) break;
                if (k < r.level) continue;
                const uint32_t child = quotient(at, divisor_of(plan.level[k]));
                at -= child * static_cast<uint32_t>(plan.level[k].each);
                found.typed += child * static_cast<uint64_t>(plan.level[k].stride);
            }
            return found;
        });
}

// Whether addresses and a range suit words of this width.
UCD_GPU_FUNCTION bool is_multiple(uint64_t bits, unsigned width) {
    return bits % width == 0;
}

// The same as move_by_plan() for a plan that is as the template's arguments say.
template <Direction direction, unsigned width, LevelKind... kinds, class Group>
UCD_GPU_FUNCTION void move_known(const Group &group, const ucd_device_plan_t &plan, uintptr_t typed,
                                 uintptr_t packed, uint64_t offset, uint64_t bytes) {
    assert(offset <= plan.bytes && bytes <= plan.bytes - offset);
    const uintptr_t origin = typed + static_cast<uint64_t>(plan.origin);
    assert(is_multiple(origin | (packed - offset), width));
    if (bytes == 0) return;
    using Places = KnownPlaces<width, kinds...>;
    const VectorMove<direction, Places> moves{Places(plan)};
    const PlanVectors v = vectors_of(packed, bytes);
    const auto first = static_cast<int32_t>(static_cast<uint32_t>(offset) - v.head);
    const MovedMember<KnownLayout<width>> m{
        {origin}, v.start, static_cast<uint32_t>(first >> shift_of_width<width>), v.head, v.tail};
    for_threads_of(group, [&](GroupThread thread) {
        move_share<direction>(moves, m, static_cast<uint32_t>(v.count), thread);
    });
}

template <Direction direction, class Group, class Places>
UCD_GPU_FUNCTION void move_nest(const Group &group, const ucd_device_plan_t &plan,
                                const Places &places, uintptr_t typed, uintptr_t packed,
                                uint64_t offset, uint64_t bytes) {
    const VectorMove<direction, Places> moves(places);
    const uint64_t origin = typed + static_cast<uint64_t>(plan.origin);
    const uint32_t shift = word_shift(plan.word, origin | (packed - offset));
    const bool aligned_stores =
        direction == Direction::unpack && plan.store_count > 0 && origin % max_store_bytes == 0;
#pragma unroll 1
    for (uint64_t done = 0; done < bytes;) {
        const PlanRange r = range_at(plan, typed, offset + done, bytes - done);
        if (direction == Direction::unpack && aligned_stores && r.level < plan.store_levels) {
            for_threads_of(
                group, [&](GroupThread thread) { store_share(plan, r, packed + done, thread); });
        } else {
            const PlanVectors v = vectors_of(packed + done, r.bytes);
            const int32_t first = static_cast<int32_t>(r.before - v.head);
            const MovedMember<PlanLayout> m{{r.typed, r.skipped, r.level, shift},
                                            v.start,
                                            static_cast<uint32_t>(first >> shift),
                                            v.head,
                                            v.tail};
            for_threads_of(group, [&](GroupThread thread) {
                move_share<direction>(moves, m, static_cast<uint32_t>(v.count), thread);
            });
        }
        done += r.bytes;
    }
}

template <Direction direction, class Group>
UCD_GPU_FUNCTION void interpret(const Group &group, const ucd_device_plan_t &plan, uintptr_t typed,
                                uintptr_t packed, uint64_t offset, uint64_t bytes) {
    InterpreterParams p;
    p.layout = interpreted(plan, typed);
    p.width = 1u << word_shift(plan.word, p.layout.typed | (packed - offset));
    const PlanVectors v = vectors_of(packed, bytes);
    p.packed = v.start;
    p.vectors = v.count;
    p.position = offset - v.head;
    p.head = v.head;
    p.tail = v.tail;
    UCD_GPU_FOR_EACH_RANK(group, rank) {
#pragma unroll 1
        for (uint64_t i = rank; i < p.vectors; i += group.size()) interpret_vector<direction>(p, i);
    }
}

template <Direction direction, class Group>
UCD_GPU_FUNCTION void move_by_plan(const Group &group, const ucd_device_plan_t &plan,
                                   uintptr_t typed, uintptr_t packed, uint64_t offset,
                                   uint64_t bytes) {
    assert(plan.version == UCD_DEVICE_PLAN__VERSION && plan.struct_size == sizeof plan);
    assert(offset <= plan.bytes && bytes <= plan.bytes - offset);
    if (bytes == 0) return;
    if (is_interpreted(plan))
        interpret<direction>(group, plan, typed, packed, offset, bytes);
    else if (is_strided(plan))
        move_nest<direction>(group, plan, StridedPlaces(plan), typed, packed, offset, bytes);
    else
        move_nest<direction>(group, plan, ListedPlaces(plan), typed, packed, offset, bytes);
}

// Copies words of the range at distances of the group's size.
template <unsigned width, class From, class To>
UCD_GPU_FUNCTION void copy_share(const From &from, const typename From::Layout &from_layout,
                                 uint32_t from_first, const To &to,
                                 const typename To::Layout &to_layout, uint32_t to_first,
                                 uint32_t words, GroupThread thread) {
    constexpr unsigned at_once = 4; // of a thread; more would need more registers
    uint32_t number = thread.rank;
#pragma unroll 1
    for (; number + (at_once - 1) * thread.size < words; number += at_once * thread.size) {
        uint32_t from_word[at_once], to_word[at_once];
#pragma unroll
        for (unsigned i = 0; i < at_once; ++i) {
            from_word[i] = from_first + number + i * thread.size;
            to_word[i] = to_first + number + i * thread.size;
        }
        uintptr_t source[at_once], target[at_once];
        from.find(from_layout, from_word, source);
        to.find(to_layout, to_word, target);
        copy_words<width>(source, target);
    }
#pragma unroll 1
    for (; number < words; number += thread.size) {
        uint32_t from_word[1] = {from_first + number}, to_word[1] = {to_first + number};
        uintptr_t source[1], target[1];
        from.find(from_layout, from_word, source);
        to.find(to_layout, to_word, target);
        copy_words<width>(source, target);
    }
}

template <unsigned width>
struct Width {
    static constexpr unsigned bytes = width;
};

template <class Group, class From, class To>
UCD_GPU_FUNCTION void copy_nests(const Group &group, const ucd_device_plan_t &from,
                                 const From &from_places, uintptr_t in, const ucd_device_plan_t &to,
                                 const To &to_places, uintptr_t out, uint64_t offset,
                                 uint64_t bytes) {
    const uint32_t common = from.word < to.word ? from.word : to.word;
    const uint32_t shift =
        word_shift(common, (in + static_cast<uint64_t>(from.origin)) |
                               (out + static_cast<uint64_t>(to.origin)) | offset | bytes);
#pragma unroll 1
    for (uint64_t done = 0; done < bytes;) {
        const PlanRange f = range_at(from, in, offset + done, bytes - done);
        const PlanRange t = range_at(to, out, offset + done, f.bytes);
        const PlanLayout source{f.typed, f.skipped, f.level, shift};
        const PlanLayout target{t.typed, t.skipped, t.level, shift};
        const uint32_t from_first = f.before >> shift, to_first = t.before >> shift;
        const auto words = static_cast<uint32_t>(t.bytes >> shift);
        const auto copy = [&](auto width, GroupThread thread) {
            copy_share<decltype(width)::bytes>(from_places, source, from_first, to_places, target,
                                               to_first, words, thread);
        };
        for_threads_of(group, [&](GroupThread thread) {
            switch (shift) {
            case 4: return copy(Width<16>(), thread);
            case 3: return copy(Width<8>(), thread);
            case 2: return copy(Width<4>(), thread);
            case 1: return copy(Width<2>(), thread);
            default: return copy(Width<1>(), thread);
            }
        });
        done += t.bytes;
    }
}

// The same as copy_by_plans() for plans that are as the Places say. If all levels of both are
// strided, `levels` is their number on the side that has fewer; else it is 0.
template <unsigned levels, class From, class To, class Group>
UCD_GPU_FUNCTION void copy_known(const Group &group, const ucd_device_plan_t &from, uintptr_t in,
                                 const ucd_device_plan_t &to, uintptr_t out, uint64_t offset,
                                 uint64_t bytes) {
    constexpr unsigned width = From::known_width;
    static_assert(width == To::known_width);
    assert(offset <= from.bytes && bytes <= from.bytes - offset);
    assert(offset <= to.bytes && bytes <= to.bytes - offset);
    const uintptr_t source = in + static_cast<uint64_t>(from.origin);
    const uintptr_t target = out + static_cast<uint64_t>(to.origin);
    assert(is_multiple(source | target | offset | bytes, width));
    const From from_places(from);
    const To to_places(to);
    const auto first = static_cast<uint32_t>(offset / width);
    if constexpr (levels > 1) {
        RowsOrder order;
        if (bytes > 0 &&
            rows_order<levels>(from, to, width, source | target, static_cast<uint32_t>(offset),
                               static_cast<uint32_t>(bytes), order)) {
            const auto copy = [&](auto each) {
                for_threads_of(group, [&](GroupThread thread) {
                    copy_columns<decltype(each)::bytes, levels>(order, from_places, source,
                                                                to_places, target, first,
                                                                thread.rank, thread.size);
                });
            };
            if (order.by_vectors) return copy(Width<vector_bytes>());
            return copy(Width<width>());
        }
    }
    for_threads_of(group, [&](GroupThread thread) {
        copy_share<width>(from_places, {source}, first, to_places, {target}, first,
                          static_cast<uint32_t>(bytes / width), thread);
    });
}

// Copies between layouts of which the interpreter walks one.
template <class Group>
UCD_GPU_FUNCTION void copy_by_locating(const Group &group, const ucd_device_plan_t &from,
                                       uintptr_t in, const ucd_device_plan_t &to, uintptr_t out,
                                       uint64_t offset, uint64_t bytes) {
    const uint32_t common = from.word < to.word ? from.word : to.word;
    const uint32_t word = word_shift(common < 3 ? common : 3,
                                     (in + static_cast<uint64_t>(from.origin)) |
                                         (out + static_cast<uint64_t>(to.origin)) | offset | bytes);
    UCD_GPU_FOR_EACH_RANK(group, rank) {
#pragma unroll 1
        for (uint64_t first = uint64_t{rank} * vector_bytes; first < bytes;
             first += uint64_t{group.size()} * vector_bytes) {
            const uint64_t end = first + vector_bytes < bytes ? first + vector_bytes : bytes;
            copy_stretches(
                first, end, word, [&](uint64_t at) { return locate(from, in, offset + at); },
                [&](uint64_t at) { return locate(to, out, offset + at); });
        }
    }
}

template <class Group>
UCD_GPU_FUNCTION void copy_by_plans(const Group &group, const ucd_device_plan_t &from, uintptr_t in,
                                    const ucd_device_plan_t &to, uintptr_t out, uint64_t offset,
                                    uint64_t bytes) {
    assert(from.version == UCD_DEVICE_PLAN__VERSION && from.struct_size == sizeof from);
    assert(to.version == UCD_DEVICE_PLAN__VERSION && to.struct_size == sizeof to);
    assert(offset <= from.bytes && bytes <= from.bytes - offset);
    assert(offset <= to.bytes && bytes <= to.bytes - offset);
    if (bytes == 0) return;
    if (is_interpreted(from) || is_interpreted(to))
        copy_by_locating(group, from, in, to, out, offset, bytes);
    else if (is_strided(from) && is_strided(to))
        copy_nests(group, from, StridedPlaces(from), in, to, StridedPlaces(to), out, offset, bytes);
    else
        copy_nests(group, from, ListedPlaces(from), in, to, ListedPlaces(to), out, offset, bytes);
}

} // namespace ucd::UCD_GPU
