// Where plugins are looked for.
#pragma once

#include <string>
#include <vector>

namespace ucd {

// Those of UCD_PLUGIN_PATH if that is set. Otherwise, if this code is in libucd.so, the folder of
// that file; and then the one folder that the build fixes.
std::vector<std::string> plugin_folders();

} // namespace ucd
