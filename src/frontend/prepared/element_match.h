// Whether two packed streams are the same sequence of elements.
#pragma once

#include "prepared/type_cache.h"

#include <cstdint>

namespace ucd {

// Compares the first `length` bytes, which end at an element of `a`.
bool same_elements(const Type &a, uint64_t a_count, const Type &b, uint64_t b_count,
                   uint64_t length);

} // namespace ucd
