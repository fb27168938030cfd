// The first use of a type that may be the only one.
#pragma once

#include "direction.h"
#include "move.h"
#include "transfer/transfer.h"

namespace ucd {

// Moves all of one object of a type that is a list, in host memory, as the type was described. It
// does so once for each type, and only while nothing has been derived from the type: what is used
// again has a layout. Duplicates are one type. False if it did nothing.
bool move_at_first_use(const Transfer &t, Direction direction, const Limits &limits);

// The same for a device, which is to move the type that is returned in its place; null if there is
// nothing to be gained.
ConstTypeOwner described_for_first_use(const Transfer &t, Op op, const Limits &limits);

} // namespace ucd
