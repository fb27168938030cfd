// Regular boxes: what ucd_layout_t claims, and what the segments of the oracle are.
#pragma once

#include "support/oracle/byte_map.hpp"

#include <ucd.h>

#include <cstddef>
#include <vector>

namespace ucdtest {

// Whether walking the layout's box, last index fastest, gives exactly these bytes.
bool box_is(const ucd_layout_t &layout, const ByteMap &bytes);

// The least dimensions of the box that the segments are: 1 for a single one, 0 if they are none (or
// if there are no segments).
std::size_t box_dimensions(const std::vector<Segment> &pieces);

} // namespace ucdtest
