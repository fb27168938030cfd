// Backends in shared objects of their own.
#pragma once

#include "backend.h"

#include <memory>
#include <string>

namespace ucd {

// libucd_NAME.so from the first folder that has it: those of UCD_PLUGIN_PATH if that is set, else
// the one that this library was loaded from. Null with the reason otherwise.
std::unique_ptr<Backend> open_plugin(const char *name, std::string &reason);

} // namespace ucd
