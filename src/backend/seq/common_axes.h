// The loops that two layouts have in common.
#pragma once

#include "permute.h"

#include "host_functions.h"

#include <cstdint>

namespace ucd::seq {

// The loops of a stream; see find_axes() of a layout.
bool find_axes(const HostStream &stream, Axes &axes);

// Where the iteration 0 of all loops lies.
uintptr_t origin_of(const HostStream &stream);

// The loops that both layouts have in common when each loop is divided where one of the other ends.
// `from_unit` and `to_unit`: the bytes of what belongs together on the two sides, which divide the
// blocks and become the blocks of `common`, whose own size is not set. `end`: how many of them are
// needed. Returns false if there are no such loops.
bool find_common_axes(const Axes &from, uint64_t from_unit, const Axes &to, uint64_t to_unit,
                      uint64_t end, Axes &common);

} // namespace ucd::seq
