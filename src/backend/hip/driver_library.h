// What is known of the driver without HIP, whose every call initialises it.
#pragma once

#include <string>

namespace ucd::hip {

// Why there can be no device; "" if there may be one. Initialises nothing.
std::string missing_driver();

// Whether anything in this process has initialised the driver.
bool is_initialised();

} // namespace ucd::hip
