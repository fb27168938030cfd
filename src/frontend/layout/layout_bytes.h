// What a layout costs in memory.
#pragma once

#include "layout.h"

namespace ucd {

// Bytes that a layout holds.
uint64_t bytes_of(const Layout &layout);

} // namespace ucd
