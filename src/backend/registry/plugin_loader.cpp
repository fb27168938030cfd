#include "plugin_loader.h"

#ifdef UCD_NO_PLUGINS

ucd::Owner<ucd::Backend> ucd::open_plugin(const char *, std::string &reason) {
    reason = "this libucd was built without the loader of plugins (UCD_NO_PLUGINS)";
    return nullptr;
}

#else

#include "plugin.h"
#include "plugin_check.h"
#include "plugin_folders.h"
#include "plugin_table.h"

#include <dlfcn.h>
#include <unistd.h>

namespace ucd {
namespace {

std::string joined(const std::vector<std::string> &folders) {
    std::string text;
    for (const std::string &folder : folders) text += (text.empty() ? "" : ", ") + folder;
    return text;
}

// Why there is no such file in any of the folders, and what to do.
std::string not_found(const std::string &file_name, const PluginFolders &folders) {
    const std::string all = joined(folders.all);
    if (folders.are_from_environment)
        return all.empty() ? "UCD_PLUGIN_PATH is set, and names no folder"
                           : file_name + " was not found in the folders of UCD_PLUGIN_PATH: " + all;
    if (all.empty())
        return "this libucd was built without a folder for plugins (UCD_PLUGIN_DIR); name one "
               "with " +
               file_name + " in UCD_PLUGIN_PATH";
    return file_name + " was not found in " + all +
           "; install it there, or name its folder in UCD_PLUGIN_PATH";
}

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
    Owner<Backend> owner(backend);
    if (owner != nullptr) complete_table(*plugin, *owner);
    return owner;
}

} // namespace

Owner<Backend> open_plugin(const char *name, std::string &reason) {
    const std::string file_name = std::string("libucd_") + name + ".so";
    const PluginFolders folders = plugin_folders();
    for (const std::string &folder : folders.all) {
        std::string file = folder;
        file.append("/").append(file_name);
        if (::access(file.c_str(), F_OK) == 0) return open_file(file, reason);
    }
    reason = not_found(file_name, folders);
    return nullptr;
}

} // namespace ucd

#endif // UCD_NO_PLUGINS
