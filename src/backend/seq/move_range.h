// Bytes of a range between a layout and packed memory.
#pragma once

#include "range.h"

namespace ucd::seq {

// Of any direction, whatever the move's; `packed` holds the first byte of the range.
void move_range(const Move &move, Range range, char *packed, Direction direction);

} // namespace ucd::seq
