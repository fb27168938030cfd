// Unpacks rows on the host past the caches, for data that is not read again soon.
#pragma once

#include "box.h"
#include "transfer/check.h"

namespace ucd {

// Whether the output of a move is rows of at least a cache line, in strided levels. They are then
// in `box`, with displacements from the output's address.
bool has_long_rows(const CheckedMove &m, Box &box);

// Unpacks the move's range from `packed`. The box is that of the output.
void unpack_streaming(const CheckedMove &m, const Box &box, const char *packed);

} // namespace ucd
