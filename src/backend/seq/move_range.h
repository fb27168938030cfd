// Moves a range of bytes between a layout and packed memory.
#pragma once

#include "plan.h"

namespace ucd::seq {

// `packed` is the first byte of the range.
void move_range(const Side &side, Slice range, char *packed, Direction direction);

} // namespace ucd::seq
