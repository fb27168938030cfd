// Loads backends that are shared libraries of their own.
#pragma once

#include "backend.h"

#include <string>

namespace ucd {

// Opens libucd_NAME.so in the first of plugin_folders() that has it. Returns null and sets the
// reason on failure. The macro UCD_NO_PLUGINS leaves out the loader: then there are no plugins.
Owner<Backend> open_plugin(const char *name, std::string &reason);

} // namespace ucd
