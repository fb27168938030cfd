// The UCD types of MPI's predefined types.
#pragma once

#include "types/c_mpi.h"

#include <ucd.h>

namespace ucd_mpi {

// The UCD type of the same representation; UCD_TYPE__NULL if there is none, or if the datatype is
// not predefined. Valid after MPI_Init, which sets some handles.
ucd_type_t find_predefined(MPI_Datatype datatype);

// The type of a Fortran integer, real or complex of this many bytes; UCD_TYPE__NULL if UCD has
// none.
ucd_type_t integer_of(long long bytes);
ucd_type_t real_of(long long bytes);
ucd_type_t complex_of(long long bytes);

} // namespace ucd_mpi
