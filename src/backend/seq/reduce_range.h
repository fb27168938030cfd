// Reduces a range: destination = destination op source.
#pragma once

#include "plan.h"

namespace ucd::seq {

// `packed` is the first byte of the range, which consists of whole elements.
void reduce_range(const Move &move, Slice range, char *packed);

} // namespace ucd::seq
