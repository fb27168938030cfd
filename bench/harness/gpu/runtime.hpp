// Errors of a GPU's runtime.
#pragma once

#include "vendor.hpp"

#include <source_location>

namespace bench::gpu {

// Throws with the runtime's words, and where.
void check(gpuError_t error, const char *what,
           std::source_location where = std::source_location::current());

} // namespace bench::gpu
