// Checks what a plugin has answered before anything of it is called.
#pragma once

#include "plugin.h"

#include <string>

namespace ucd {

// Returns a sentence about the first table that is missing, has another size, or lacks a function;
// "" if all are complete.
std::string find_wrong_table(const Plugin &plugin);

} // namespace ucd
