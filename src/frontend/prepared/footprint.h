// What a type costs in memory.
#pragma once

#include "layout.h"
#include "types/type.h"

namespace ucd {

// Bytes that the type holds by now, with all types below it, each once: tree, lists, layout and
// plans. Predefined types cost nothing.
uint64_t footprint_of(const Type &type);

} // namespace ucd
