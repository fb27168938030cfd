#include "preload/facts.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace ucd_mpi {
namespace {

Arrangement arrangement_of(const Converted &converted, std::uintptr_t size) {
    if (converted.leaves.size() > 1) return Arrangement::mixed;
    // A type with more boxes than these counts as a list.
    std::array<ucd_box_t, 16> boxes;
    std::uintptr_t found = 0, total = 0;
    // Finding the boxes of a list takes time in proportion to its length.
    constexpr std::size_t short_list = 64;
    if (converted.longest_list > short_list ||
        ucd_get_boxes(1, converted.type.get(), 0, boxes.data(), boxes.size(), &found, &total) !=
            UCD_SUCCESS ||
        total > found)
        return Arrangement::list;
    std::uint64_t inner = 0;
    for (std::uintptr_t i = 0; i < found; ++i) {
        const ucd_box_t &box = boxes[i];
        inner = static_cast<std::uint64_t>(std::abs(box.stride[box.dims - 1]));
        for (std::uint32_t level = 0; level + 1 < box.dims; ++level)
            if (static_cast<std::uint64_t>(std::abs(box.stride[level])) < inner)
                return Arrangement::transposed;
    }
    if (size / std::max<std::uint64_t>(converted.steps, 1) > nest_step) return Arrangement::nest;
    return inner % column_stride == 0 ? Arrangement::column : Arrangement::loop;
}

} // namespace

std::optional<TypeFacts> facts_of(const Converted &converted) {
    ucd_layout_t one = {}, two = {};
    one.struct_size = two.struct_size = sizeof one;
    if (ucd_get_layout(1, converted.type.get(), &one) != UCD_SUCCESS ||
        ucd_get_layout(2, converted.type.get(), &two) != UCD_SUCCESS || one.bytes == 0)
        return std::nullopt;
    return TypeFacts{.size = one.bytes,
                     .mean_segment = one.bytes / one.segments,
                     .low = static_cast<std::intptr_t>(one.low),
                     .one_is_contiguous = one.contiguous != 0,
                     .several_are_contiguous = two.contiguous != 0,
                     .arrangement = arrangement_of(converted, one.bytes)};
}

} // namespace ucd_mpi
