// Queries of the driver that do not use HIP, because every call of HIP initialises the driver.
#pragma once

#include <string>

namespace ucd::hip {

// The reason why there can be no device; "" if there may be one. Does not initialise the driver.
std::string missing_driver();

// Whether any code in this process has initialised the driver.
bool is_initialised();

} // namespace ucd::hip
