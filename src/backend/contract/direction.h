// The direction of a move between a layout and the packed stream.
#pragma once

#include <cstdint>

namespace ucd {

enum class Direction : uint8_t { pack, unpack };

} // namespace ucd
