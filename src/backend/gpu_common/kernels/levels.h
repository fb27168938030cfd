// One level of a nest: from a position in the packed stream to a displacement in memory.
#pragma once

#include "kernels/divide.h"
#include "kernels/entry_holding.h"
#include "kernels/words.h"
#include "params/nest.h"

namespace ucd::UCD_GPU {

// Displacement `index` of a list, in words.
template <unsigned width>
UCD_GPU_FUNCTION int64_t displacement_at(const NestList &list, uint32_t index) {
    if (list.displacement_unit == 0)
        return load_table(list_pointer<int64_t>(list.displacements) + index) /
               static_cast<int64_t>(width);
    const int32_t entry = load_table(list_pointer<int32_t>(list.displacements) + index);
    return static_cast<int64_t>(entry) * static_cast<int32_t>(list.displacement_unit);
}

// The same for a child of an indexed_block level, whose list may be a caller's. The caller changes
// such a list only between launches, never while a kernel reads it.
template <unsigned width>
UCD_GPU_FUNCTION int64_t displacement_of_child(const NestList &list, uint32_t child) {
    if (list.displacement_unit == 0)
        return static_cast<int64_t>(load_table(list_pointer<uint64_t>(list.displacements) + child) *
                                    list.first) /
               static_cast<int64_t>(width);
    return displacement_at<width>(list, child);
}

UCD_GPU_FUNCTION int64_t steps(uint32_t count, const NestLevel &level) {
    return static_cast<int64_t>(static_cast<int32_t>(count)) * level.stride;
}

UCD_GPU_INLINED_FUNCTION uint32_t start_of_run(const uint32_t *first, uint32_t run) {
    return load_table(first + run);
}

// Finds the run that contains a child.
UCD_GPU_FUNCTION uint32_t run_holding(const NestList &list, uint32_t child) {
    const uint32_t *start = list_pointer<uint32_t>(list.starts) + (child >> list.granule);
    const uint32_t *first = list_pointer<uint32_t>(list.first);
    return entry_holding<start_of_run>(child, load_table(start), load_table(start + 1), first);
}

// Descends one level: `position` becomes the position within the child, and `displacement` includes
// the child's.
template <unsigned width, LevelKind kind>
UCD_GPU_FUNCTION void descend(const NestLevel &level, const NestList &list, uint32_t &position,
                              int64_t &displacement) {
    const uint32_t child = quotient(position, level.each);
    position -= child * level.each.value;
    if constexpr (kind == LevelKind::strided) {
        displacement += steps(child, level);
    } else if constexpr (kind == LevelKind::indexed_block) {
        displacement += displacement_of_child<width>(list, child);
    } else {
        const uint32_t run = run_holding(list, child);
        const uint32_t in_run = child - load_table(list_pointer<uint32_t>(list.first) + run);
        displacement += displacement_at<width>(list, run) + steps(in_run, level);
    }
}

} // namespace ucd::UCD_GPU
