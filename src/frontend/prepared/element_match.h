// Compares the elements of two packed streams.
#pragma once

#include "move.h"
#include "prepared/type_cache.h"

namespace ucd {

// Whether both sides of a copy, which have these types, have the same elements in its range. The
// range must begin at an element boundary of both sides, and end at one of `from`.
bool same_elements(const CopyMove &copy, const Type &from, const Type &to);

} // namespace ucd
