#include "preload/next.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <string_view>
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

// Which build of this library is for an MPI library: MPI libraries differ in the types of their
// arguments.
std::string_view build_for(const char *mpi) {
    if (dlsym(RTLD_NEXT, "ompi_mpi_comm_world") != nullptr) return "openmpi";
    return std::strstr(mpi, "libmpi_abi") != nullptr ? "abi" : "mpich";
}

// Ends the process if this library was loaded into a program of another MPI library: the first call
// would crash.
void check_mpi() {
    Dl_info mpi;
    void *const function = dlsym(RTLD_NEXT, "PMPI_Init");
    if (function == nullptr || dladdr(function, &mpi) == 0) return;
    const std::string_view wanted = build_for(mpi.dli_fname);
    if (wanted == UCD_MPI_BUILD) return;
    std::fprintf(stderr,
                 "libucd-mpi-preload-" UCD_MPI_BUILD
                 " is not for %s, which this program loads: use libucd-mpi-preload-%s "
                 "(ucd-mpi-run --mpi %s)\n",
                 mpi.dli_fname, wanted.data(), wanted.data());
    std::_Exit(2);
}

} // namespace

void *find_next(const char *name) {
    static const bool is_there = dlsym(RTLD_NEXT, "PMPI_Init") != nullptr || show_loaded_mpi();
    static const bool is_checked = (check_mpi(), true);
    return is_there && is_checked ? dlsym(RTLD_NEXT, name) : nullptr;
}

} // namespace ucd_mpi
