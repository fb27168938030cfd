// Whether a layout has bytes twice.
#pragma once

#include "common/failure.h"

#include <cstdint>

namespace ucd_ucx {

enum class Overlap : uint8_t {
    none,
    some,
    unknown, // to find out takes more than the work that is allowed
};

// Of `count` of `type`, whose layout that is. `work` is the number of segments that may be looked
// at; those that were are taken off.
Status find_overlap(uint64_t count, ucd_type_t type, const ucd_layout_t &layout, uint64_t &work,
                    Overlap &overlap);

} // namespace ucd_ucx
