// Values worth reducing: no NaN and no negative zero (MAX and MIN of those is nobody's contract),
// many ties for the LOC ops, many zeros for the logical ones, extremes that wrap or round.
#pragma once

#include "support/oracle/reduction_oracle.hpp"
#include "support/random/rng.hpp"

namespace ucdtest {

// One packed element.
void random_value(Rng &rng, const Predefined &type, void *out);

// A whole packed stream of such elements.
std::vector<std::byte> random_values(Rng &rng, const std::vector<StreamElement> &elements);

// Copies from `actual` to `expected` the bytes that hold no value (x87's spare ones), where a
// reduction may leave anything. Both point to one packed element.
void forgive_spare_bytes(const Predefined &type, void *expected, const void *actual);

} // namespace ucdtest
