// Finds out whether a layout contains bytes more than once.
#pragma once

#include "common/failure.h"

#include <cstdint>

namespace ucd_ucx {

enum class Overlap : uint8_t {
    none,
    some,
    unknown, // only a list of the segments can tell
};

// What the layout tells without a list of its segments.
Overlap overlap_of(const ucd_layout_t &layout);
// Finds the overlap of `count` of `type` with this layout by listing and sorting its segments,
// which takes this much memory for each:
inline constexpr uint64_t bytes_of_listed_segment = 16;
Status find_overlap_by_list(uint64_t count, ucd_type_t type, const ucd_layout_t &layout,
                            Overlap &overlap);

} // namespace ucd_ucx
