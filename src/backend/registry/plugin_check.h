// Checks what a plugin has answered before anything of it is called.
#pragma once

#include "plugin.h"

#include <string>

namespace ucd {

// Returns a sentence about the first table that is missing, has another size, or lacks a function;
// "" if all can be used. That of the backend may have fewer functions than libucd knows, or more.
std::string find_wrong_table(const Plugin &plugin);

} // namespace ucd
