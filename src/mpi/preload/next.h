// Finds the next definition of a function after this library's, in another tool or in MPI itself.
#pragma once

namespace ucd_mpi {

// Null if MPI has no function of that name.
void *find_next(const char *name);

template <class Function>
Function *next_of(const char *name) {
    return reinterpret_cast<Function *>(find_next(name));
}

} // namespace ucd_mpi
