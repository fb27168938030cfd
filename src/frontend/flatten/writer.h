// Writes types as bytes, for files and other processes: docs/reference/flatten-format.md.
#pragma once

#include "types/type.h"

#include <cstdint>
#include <vector>

namespace ucd {

std::vector<uint8_t> flatten(const Type &type);

} // namespace ucd
