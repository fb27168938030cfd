// The memory that layouts use.
#pragma once

#include "layout.h"

namespace ucd {

// The memory of a layout, in bytes.
uint64_t bytes_of(const Layout &layout);

} // namespace ucd
