// The function of the same name that comes after this library's: another tool's, or MPI's own.
// There is always one, since this library is linked with the MPI library.
#pragma once

#include <dlfcn.h>

namespace ucd_mpi {

template <class Function>
Function *next_of(const char *name) {
    return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

} // namespace ucd_mpi
