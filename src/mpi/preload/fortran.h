// The MPI library's Fortran functions. They bring arguments and results into C's form, and call
// MPI's C functions by the names with PMPI_, which are here for them.
#pragma once

namespace ucd_mpi {

// Whether a call that returns to this address comes from the MPI library's Fortran bindings. A
// Fortran binding stores the error code after the call, so it never ends with a jump.
bool called_by_fortran(const void *return_address);

} // namespace ucd_mpi
