// Finds the next definition of a function after this library's, in another tool or in MPI itself.
// There always is one, because this library is linked with the MPI library.
#pragma once

#include <dlfcn.h>

namespace ucd_mpi {

template <class Function>
Function *next_of(const char *name) {
    return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

} // namespace ucd_mpi
