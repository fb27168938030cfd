// Reduces a range: destination = destination op source.
#pragma once

#include "range.h"

namespace ucd::seq {

// `packed` is the first byte of the range, which consists of whole elements.
void reduce_range(const Move &move, Range range, char *packed);

} // namespace ucd::seq
