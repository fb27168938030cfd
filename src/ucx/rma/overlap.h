// Whether a layout has bytes twice.
#pragma once

#include "common/failure.h"

#include <cstdint>

namespace ucd_ucx {

enum class Overlap : uint8_t {
    none,
    some,
    unknown, // it takes a list of the segments to find out
};

// As far as the layout tells without a list of its segments.
Overlap overlap_of(const ucd_layout_t &layout);
// Of `count` of `type`, whose layout that is: lists and sorts its segments, which takes so many
// bytes for each.
inline constexpr uint64_t bytes_of_listed_segment = 16;
Status find_overlap_by_list(uint64_t count, ucd_type_t type, const ucd_layout_t &layout,
                            Overlap &overlap);

} // namespace ucd_ucx
