// A type as bytes for another process: docs/reference/flatten-format.md.
#pragma once

#include "types/type.h"

#include <cstdint>
#include <vector>

namespace ucd {

std::vector<uint8_t> flatten(const Type &type);

} // namespace ucd
