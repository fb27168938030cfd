// Conversions between the memories of devices, checked against the oracle.
#pragma once

#include "support/moves/converting.hpp"
#include "support/moves/device_moves.hpp"

#include <cstddef>
#include <functional>

namespace ucdtest {

// Converts elements [first, last) of the source in some form of call, with hints that are true, or
// none. The input is random, unless `fill` makes it.
void check_device_conversion(Case &one, const ConvertedPair &pair, Memory a, Memory b,
                             std::size_t first, std::size_t last,
                             const std::function<void(DeviceBuffer &)> &fill = {});

// All elements, and some. Nothing, if elements of the target overlap.
void check_device_conversion(Case &one, const ConvertedPair &pair, Memory a, Memory b);

} // namespace ucdtest
