// Compares the elements of two packed streams.
#pragma once

#include "prepared/type_cache.h"

#include <cstdint>

namespace ucd {

// The packed stream of `count` of a type, beginning at an element boundary.
struct ElementRange {
    const Type &type;
    uint64_t count;
    uint64_t offset;
};

// Compares the first `length` bytes, which must end at an element boundary of `a`.
bool same_elements(const ElementRange &a, const ElementRange &b, uint64_t length);

} // namespace ucd
