#include "preload/next.h"

#include <cstddef>
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <vector>

namespace ucd_mpi {
namespace {

// Callback of dl_iterate_phdr.
int add_path(dl_phdr_info *library, std::size_t, void *paths) {
    if (library->dlpi_name != nullptr && *library->dlpi_name != '\0')
        static_cast<std::vector<std::string> *>(paths)->emplace_back(library->dlpi_name);
    return 0;
}

// An interpreter loads MPI for the one module that needs it, so that other libraries do not find
// its functions. This makes them visible to all, this library included.
bool show_loaded_mpi() {
    std::vector<std::string> paths;
    dl_iterate_phdr(add_path, &paths);
    for (const std::string &path : paths) {
        void *const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) continue;
        // Also finds MPI among the libraries that this one needs.
        void *const function = dlsym(library, "PMPI_Init");
        dlclose(library);
        Dl_info mpi;
        if (function != nullptr && dladdr(function, &mpi) != 0)
            return dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) != nullptr;
    }
    return false;
}

} // namespace

void *find_next(const char *name) {
    void *const next = dlsym(RTLD_NEXT, name);
    if (next != nullptr || dlsym(RTLD_NEXT, "PMPI_Init") != nullptr) return next;
    return show_loaded_mpi() ? dlsym(RTLD_NEXT, name) : nullptr;
}

} // namespace ucd_mpi
