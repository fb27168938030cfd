// Finds bytes of the packed stream by a device plan (ucd_device.h).
#pragma once

#include "kernels/interpreter.h"
#include "kernels/levels.h"
#include "params/table_shape.h"

#include <ucd_device.h>

#include <cassert>

namespace ucd::UCD_GPU {

inline constexpr uint32_t max_plan_levels = UCD_DEVICE_PLAN__MAX_LEVELS;
// Children of this size are found by 64-bit divisions, once for a range. Positions below them, in a
// range of no more bytes, fit 31 bits.
inline constexpr uint64_t max_divided = uint64_t{1} << 30;

UCD_GPU_FUNCTION bool is_interpreted(const ucd_device_plan_t &plan) {
    return plan.levels == levels_of_interpreter;
}

UCD_GPU_FUNCTION LevelKind kind_of(const ucd_device_plan_t &plan, unsigned k) {
    return static_cast<LevelKind>(plan.kind[k]);
}

UCD_GPU_FUNCTION Divisor divisor_of(const ucd_device_level_t &level) {
    return {static_cast<uint32_t>(level.each), level.magic, level.shift};
}

UCD_GPU_FUNCTION NestList list_of(const ucd_device_list_t &list) {
    NestList made;
    made.displacements = list.displacements;
    made.first = list.first;
    made.starts = list.starts;
    made.displacement_unit = list.displacement_unit;
    made.granule = list.granule;
    return made;
}

// The list of level k. The choice needs no index that is unknown to the compiler: such an index
// would let it copy the plan to private memory.
UCD_GPU_FUNCTION NestList list_at(const ucd_device_plan_t &plan, unsigned k) {
    return list_of(k == 0 ? plan.at.list[0] : k == 1 ? plan.at.list[1] : plan.at.list[2]);
}

UCD_GPU_FUNCTION uint64_t displacement_in_runs(const ucd_device_level_t &level,
                                               const NestList &list, uint32_t child) {
    const uint32_t run = run_holding(list, child);
    const uint32_t in_run = child - load_table(list_pointer<uint32_t>(list.first) + run);
    return static_cast<uint64_t>(displacement_at<1>(list, run)) +
           in_run * static_cast<uint64_t>(level.stride);
}

// The displacement of a child of any number.
UCD_GPU_FUNCTION uint64_t displacement_of_any(const ucd_device_plan_t &plan, unsigned k,
                                              uint64_t child) {
    const ucd_device_level_t &level = plan.level[k];
    if (kind_of(plan, k) == LevelKind::strided) return child * static_cast<uint64_t>(level.stride);
    NestList list = list_at(plan, k);
    if (kind_of(plan, k) == LevelKind::indexed)
        return displacement_in_runs(level, list, static_cast<uint32_t>(child));
    list.displacements += child * (list.displacement_unit == 0 ? sizeof(int64_t) : sizeof(int32_t));
    return static_cast<uint64_t>(displacement_of_child<1>(list, 0));
}

// A part of the stream in which positions fit 31 bits.
struct PlanRange {
    uintptr_t typed;  // the address of what the levels from `level` on are in
    uint32_t level;   // the outermost level that positions have to be divided by
    uint32_t before;  // the position of the first byte
    uint64_t skipped; // children of a listed level before position 0
    uint64_t bytes;
};

// Divides by the size of children of level k: `at` becomes the position within the child.
UCD_GPU_FUNCTION uint64_t divide_by(const ucd_device_level_t &level, uint64_t &at) {
    const bool narrow = (at | level.each) >> 31 == 0;
    const uint64_t child =
        narrow ? quotient(static_cast<uint32_t>(at), divisor_of(level)) : at / level.each;
    at -= child * level.each;
    return child;
}

// Finds as much of the stream from byte `at` on, but no more than `bytes`, as one range can be.
UCD_GPU_FUNCTION PlanRange range_at(const ucd_device_plan_t &plan, uintptr_t typed, uint64_t at,
                                    uint64_t bytes) {
    PlanRange r{typed + static_cast<uint64_t>(plan.origin), 0, 0, 0,
                bytes < max_divided ? bytes : max_divided};
    if (plan.bytes <= max_divided) { // all positions fit
        r.before = static_cast<uint32_t>(at);
        return r;
    }
#pragma unroll
    for (unsigned k = 0; k < max_plan_levels; ++k) {
        if (k >= plan.levels || r.level < k) break;
        const uint64_t child = divide_by(plan.level[k], at);
        const bool wide = plan.level[k].each >= max_divided;
        if (wide) {
            const uint64_t rest = plan.level[k].each - at;
            if (rest < r.bytes) r.bytes = rest;
            r.level = k + 1;
        }
        if (wide || kind_of(plan, k) == LevelKind::strided)
            r.typed += displacement_of_any(plan, k, child);
        else
            r.skipped = child;
    }
    if (r.level == plan.levels) { // contiguous: any position may be the first
        const uint64_t skipped = at & ~uint64_t{vector_bytes - 1};
        r.typed += skipped; // whole vectors, so that words keep their alignment
        at -= skipped;
    }
    r.before = static_cast<uint32_t>(at);
    return r;
}

// A range, and the log2 of the width of words: what Places of a plan need to find an address.
struct PlanLayout {
    uintptr_t typed;
    uint64_t skipped;
    uint32_t level;
    uint32_t shift;
};

// Places of layouts whose levels are all strided.
class StridedPlaces {
public:
    static constexpr unsigned known_width = 0;
    using Layout = PlanLayout;

    UCD_GPU_FUNCTION explicit StridedPlaces(const ucd_device_plan_t &plan) : plan_(plan) {}

    template <unsigned count>
    UCD_GPU_FUNCTION void find(const PlanLayout &m, uint32_t (&position)[count],
                               uintptr_t (&places)[count]) const {
#pragma unroll
        for (unsigned i = 0; i < count; ++i) {
            position[i] <<= m.shift;
            places[i] = m.typed;
        }
#pragma unroll
        for (unsigned k = 0; k < max_plan_levels; ++k) {
            if (k >= plan_.levels) break;
            if (k < m.level) continue;
            const Divisor each = divisor_of(plan_.level[k]);
            const auto stride = static_cast<uint64_t>(plan_.level[k].stride);
#pragma unroll
            for (unsigned i = 0; i < count; ++i) {
                const uint32_t child = quotient(position[i], each);
                position[i] -= child * each.value;
                places[i] += child * stride;
            }
        }
#pragma unroll
        for (unsigned i = 0; i < count; ++i) places[i] += position[i];
    }

private:
    const ucd_device_plan_t &plan_;
};

// Places of any layout. Only the outer three levels may have lists.
class ListedPlaces {
public:
    static constexpr unsigned known_width = 0;
    using Layout = PlanLayout;

    UCD_GPU_FUNCTION explicit ListedPlaces(const ucd_device_plan_t &plan) : plan_(plan) {}

    template <unsigned count>
    UCD_GPU_FUNCTION void find(const PlanLayout &m, uint32_t (&position)[count],
                               uintptr_t (&places)[count]) const {
#pragma unroll
        for (unsigned i = 0; i < count; ++i) {
            position[i] <<= m.shift;
            places[i] = m.typed;
        }
#pragma unroll 1
        for (unsigned k = m.level; k < plan_.levels; ++k) {
            const ucd_device_level_t level = k == 0   ? plan_.level[0]
                                             : k == 1 ? plan_.level[1]
                                             : k == 2 ? plan_.level[2]
                                                      : plan_.level[3];
            const uint32_t kind = k == 0   ? plan_.kind[0]
                                  : k == 1 ? plan_.kind[1]
                                  : k == 2 ? plan_.kind[2]
                                           : plan_.kind[3];
            const Divisor each = divisor_of(level);
            if (kind == static_cast<uint32_t>(LevelKind::strided)) {
#pragma unroll
                for (unsigned i = 0; i < count; ++i) {
                    const uint32_t child = quotient(position[i], each);
                    position[i] -= child * each.value;
                    places[i] += child * static_cast<uint64_t>(level.stride);
                }
                continue;
            }
            NestList list = list_at(plan_, k);
            const uint64_t skipped = k == m.level ? m.skipped : 0;
            if (kind == static_cast<uint32_t>(LevelKind::indexed_block)) {
                list.displacements +=
                    skipped * (list.displacement_unit == 0 ? sizeof(int64_t) : sizeof(int32_t));
#pragma unroll
                for (unsigned i = 0; i < count; ++i) {
                    const uint32_t child = quotient(position[i], each);
                    position[i] -= child * each.value;
                    places[i] += static_cast<uint64_t>(displacement_of_child<1>(list, child));
                }
                continue;
            }
#pragma unroll
            for (unsigned i = 0; i < count; ++i) {
                const uint32_t child = quotient(position[i], each);
                position[i] -= child * each.value;
                places[i] +=
                    displacement_in_runs(level, list, child + static_cast<uint32_t>(skipped));
            }
        }
#pragma unroll
        for (unsigned i = 0; i < count; ++i) places[i] += position[i];
    }

private:
    const ucd_device_plan_t &plan_;
};

UCD_GPU_FUNCTION bool is_strided(const ucd_device_plan_t &plan) {
    return (plan.kind[0] | plan.kind[1] | plan.kind[2]) ==
           static_cast<uint32_t>(LevelKind::strided);
}

UCD_GPU_FUNCTION InterpretedLayout interpreted(const ucd_device_plan_t &plan, uintptr_t typed) {
    InterpretedLayout layout;
    layout.lists = plan.at.walk.lists;
    layout.nodes = plan.at.walk.nodes;
    layout.typed = typed + static_cast<uint64_t>(plan.origin);
    layout.root = plan.at.walk.root;
    return layout;
}

// The address of stream byte `at`, and the number of bytes that follow each other from there on.
UCD_GPU_FUNCTION Stretch locate(const ucd_device_plan_t &plan, uintptr_t typed, uint64_t at) {
    if (is_interpreted(plan)) return locate(interpreted(plan, typed), at);
    Stretch s{typed + static_cast<uint64_t>(plan.origin), plan.bytes, nullptr};
#pragma unroll
    for (unsigned k = 0; k < max_plan_levels; ++k) {
        if (k >= plan.levels) break;
        const ucd_device_level_t &level = plan.level[k];
        const uint64_t child = divide_by(level, at);
        s.place += displacement_of_any(plan, k, child);
        s.bytes = level.each;
        // Children that touch, at the end of which a run may end.
        if (kind_of(plan, k) == LevelKind::indexed &&
            k + 1u == plan.levels && // performance only: the level below sets s.bytes again
            level.stride == static_cast<int64_t>(level.each)) {
            const NestList list = list_at(plan, k);
            const uint32_t run = run_holding(list, static_cast<uint32_t>(child));
            const uint32_t end = load_table(list_pointer<uint32_t>(list.first) + run + 1);
            s.bytes = (end - child) * level.each;
        }
    }
    return {s.place + at, s.bytes - at, nullptr};
}

} // namespace ucd::UCD_GPU
