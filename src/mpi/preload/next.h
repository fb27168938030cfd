// The function of the same name that comes after this library's: another tool's, or MPI's own.
#pragma once

#include <dlfcn.h>

namespace ucd_mpi {

template <class Function>
Function *next_of(const char *name, Function *otherwise) {
    void *const found = dlsym(RTLD_NEXT, name);
    return found != nullptr ? reinterpret_cast<Function *>(found) : otherwise;
}

} // namespace ucd_mpi
