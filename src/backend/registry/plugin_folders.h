// Where plugins are looked for.
#pragma once

#include <string>
#include <vector>

namespace ucd {

struct PluginFolders {
    std::vector<std::string> all; // in the order in which they are searched
    bool are_from_environment;
};

// Those of UCD_PLUGIN_PATH if that is set. Otherwise, if this code is in libucd.so, the folder of
// that file; and then the one absolute folder that the build fixes by the macro UCD_PLUGIN_DIR, if
// it does.
PluginFolders plugin_folders();

} // namespace ucd
