// destination = destination op source, for a range.
#pragma once

#include "range.h"

namespace ucd::seq {

// `packed` holds the first byte of the range, which is whole elements.
void reduce_range(const Move &move, Range range, char *packed);

} // namespace ucd::seq
