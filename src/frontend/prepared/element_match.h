// Whether two packed streams are the same sequence of elements.
#pragma once

#include "prepared/type_cache.h"

#include <cstdint>

namespace ucd {

// The packed stream of `count` of a type, from an element boundary on.
struct ElementRange {
    const Type &type;
    uint64_t count;
    uint64_t offset;
};

// Compares the first `length` bytes, which end at an element of `a`.
bool same_elements(const ElementRange &a, const ElementRange &b, uint64_t length);

} // namespace ucd
