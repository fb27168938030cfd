#pragma once

#include "move.h"

namespace ucd::seq {

// Performs a conversion of which both sides are consecutive bytes.
void convert_range(const Move &move);

} // namespace ucd::seq
