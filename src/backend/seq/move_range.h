// Moves a range of bytes between a layout and packed memory.
#pragma once

#include "plan.h"

namespace ucd::seq {

// In the given direction, which may differ from the move's. `packed` is the first byte of the
// range.
void move_range(const Move &move, Slice range, char *packed, Direction direction);

} // namespace ucd::seq
