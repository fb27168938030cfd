// The memory that a type uses.
#pragma once

#include "layout.h"
#include "types/type.h"

namespace ucd {

// The bytes that the type and all types below it hold now, each counted once: tree, lists, layout
// and plans. Predefined types count as nothing.
uint64_t footprint_of(const Type &type);

} // namespace ucd
