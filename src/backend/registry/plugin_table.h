// Lets libucd call each function of the backend of a plugin that is older, and lacks some.
#pragma once

#include "plugin.h"

namespace ucd {

// If the plugin's table is shorter than libucd's, or its device_plan() is of another version, gives
// the backend a table in which what is missing has an answer: a status is NOT_SUPPORTED, with a
// message that names both versions, and all else is what a function answers after an exception.
void complete_table(const Plugin &plugin, Backend &backend);

} // namespace ucd
