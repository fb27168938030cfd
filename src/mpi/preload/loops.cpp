#include "preload/loops.h"

#include <array>
#include <cstdlib>

namespace ucd_mpi {

Loops loops_of(const Converted &converted) {
    // A type with more boxes than these counts as a list.
    std::array<ucd_box_t, 16> boxes;
    std::uintptr_t found = 0, total = 0;
    // Finding the boxes of a list takes time in proportion to its length.
    constexpr std::size_t short_list = 64;
    if (converted.longest_list > short_list ||
        ucd_get_boxes(1, converted.type, 0, boxes.data(), boxes.size(), &found, &total) !=
            UCD_SUCCESS ||
        total > found)
        return {};
    Loops loops{.regular = true};
    for (std::uintptr_t i = 0; i < found; ++i) {
        const ucd_box_t &box = boxes[i];
        const std::int64_t inner = std::abs(box.stride[box.dims - 1]);
        for (std::uint32_t level = 0; level + 1 < box.dims; ++level)
            loops.transposed |= std::abs(box.stride[level]) < inner;
        loops.inner_stride = static_cast<std::uint64_t>(inner);
    }
    return loops;
}

} // namespace ucd_mpi
