// Loads backends that are shared libraries of their own.
#pragma once

#include "backend.h"

#include <string>

namespace ucd {

// Opens libucd_NAME.so in the first folder that has it. The folders are those of UCD_PLUGIN_PATH if
// that is set, otherwise the one that this library was loaded from. Returns null and sets the
// reason on failure.
Owner<Backend> open_plugin(const char *name, std::string &reason);

} // namespace ucd
