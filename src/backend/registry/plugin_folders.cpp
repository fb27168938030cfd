#include "plugin_folders.h"

#include "environment.h"

#include <sys/stat.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#ifndef UCD_NO_PLUGINS

namespace ucd {
namespace {

std::vector<std::string> split(std::string_view path) {
    std::vector<std::string> all;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find(':'), path.size());
        if (end > 0) all.emplace_back(path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return all;
}

// The build compiles this file once for libucd.so, with this macro, and once for libucd.a. In a
// program or library that is linked with libucd.a, the file of this code is not libucd's, and for
// programs the dynamic linker knows no path but argv[0].
#ifdef UCD_IN_SHARED_LIBUCD
// The file that this code is mapped from; "" if the kernel does not say. The kernel's path is
// absolute. The dynamic linker has the path that it was given, which may be relative to a folder
// that the process has left since.
std::string own_file() {
    const auto here = reinterpret_cast<std::uintptr_t>(&plugin_folders);
    std::FILE *const maps = std::fopen("/proc/self/maps", "re");
    if (maps == nullptr) return "";
    char *line = nullptr;
    const char *path = "";
    std::size_t room = 0;
    while (*path == '\0' && ::getline(&line, &room, maps) > 0) {
        std::uintptr_t begin = 0, end = 0;
        int before_path = 0;
        // Addresses, access, offset, device, inode, path.
        if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &begin, &end,
                        &before_path) == 2 &&
            begin <= here && here < end)
            path = line + before_path;
    }
    (void)std::fclose(maps); // opened for reading only
    std::string file = path;
    std::free(line);
    return file;
}

// The folder of that file; "" if it is not certain, or others may add files to it.
std::string own_folder() {
    const std::string file = own_file();
    // The kernel writes a line feed in a path as \012, which may as well be in the name of another
    // folder.
    if (!file.starts_with('/') || file.ends_with(" (deleted)\n") || file.find("\\012") != file.npos)
        return "";
    std::string folder = file.substr(0, std::max(file.rfind('/'), std::size_t{1}));
    // As in /tmp: others cannot replace libucd there, but a plugin may be anyone's.
    constexpr mode_t shared = S_ISVTX | S_IWOTH;
    struct stat facts;
    if (::stat(folder.c_str(), &facts) != 0 || (facts.st_mode & shared) == shared) return "";
    return folder;
}
#endif

} // namespace

PluginFolders plugin_folders() {
    if (const char *path = environment_variable("UCD_PLUGIN_PATH")) return {split(path), true};
    std::vector<std::string> all;
#ifdef UCD_IN_SHARED_LIBUCD
    if (std::string own = own_folder(); !own.empty()) all.push_back(std::move(own));
#endif
#ifdef UCD_PLUGIN_DIR
    if (all.empty() || all.front() != UCD_PLUGIN_DIR) all.emplace_back(UCD_PLUGIN_DIR);
#endif
    return {all, false};
}

} // namespace ucd

#endif // UCD_NO_PLUGINS
