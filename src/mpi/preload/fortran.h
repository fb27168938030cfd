// Calls from the MPI library's Fortran bindings. The bindings convert arguments and results, and
// call MPI's C functions by their PMPI_ names, so this library defines those names as well.
#pragma once

namespace ucd_mpi {

// Whether a call that returns to this address comes from the MPI library's Fortran bindings. The
// return address is reliable: a binding stores the error code after the call, so the compiler
// cannot turn the call into a tail call.
bool called_by_fortran(const void *return_address);

} // namespace ucd_mpi
