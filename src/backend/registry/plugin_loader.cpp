#include "plugin_loader.h"

#include "plugin.h"
#include "plugin_check.h"
#include "plugin_folders.h"

#include <dlfcn.h>
#include <unistd.h>

namespace ucd {
namespace {

Owner<Backend> open_file(const std::string &file, std::string &reason) {
    // Never unloaded, because plans, and so the plugin's code, may be in use until the process
    // ends.
    void *library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
        const char *why = ::dlerror();
        reason = "its plugin could not be loaded: " + std::string(why != nullptr ? why : file);
        return nullptr;
    }
    const auto open = reinterpret_cast<OpenPlugin>(::dlsym(library, plugin_symbol));
    if (open == nullptr) {
        reason =
            file + " has no function " + plugin_symbol + ": it is no plugin of UCD 0.3 or later";
        return nullptr;
    }
    const PluginRequest request{
        .struct_size = sizeof request,
        .contract = contract_version,
        .structs = crossing_structs.data(),
        .struct_count = crossing_structs.size(),
    };
    char why[sizeof LastError::text] = "it does not say why";
    const Plugin *const plugin = open(&request, why, sizeof why);
    Backend *backend = nullptr;
    if (plugin == nullptr)
        reason = file + " does not fit this libucd: " + why;
    else if (std::string wrong = find_wrong_table(*plugin); !wrong.empty())
        reason = file + " does not fit this libucd: " + wrong;
    else if (plugin->create(&backend) != UCD_SUCCESS)
        reason = file + " made no backend: " + plugin->backend->last_error()->text;
    return Owner<Backend>(backend);
}

} // namespace

Owner<Backend> open_plugin(const char *name, std::string &reason) {
    const std::string file_name = std::string("libucd_") + name + ".so";
    std::string looked_in;
    for (const std::string &folder : plugin_folders()) {
        std::string file = folder;
        file.append("/").append(file_name);
        if (::access(file.c_str(), F_OK) == 0) return open_file(file, reason);
        looked_in += looked_in.empty() ? "" : ", ";
        looked_in += folder;
    }
    reason = file_name + " was not found in " + (looked_in.empty() ? "any folder" : looked_in);
    return nullptr;
}

} // namespace ucd
