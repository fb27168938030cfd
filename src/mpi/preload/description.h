// A short description of a type for the statistics.
#pragma once

#include "types/convert.h"

#include <string>

namespace ucd_mpi {

// The name that the user gave the type or, without one, how it was made: "vector(1000, 1, 3) of
// MPI_INT, 4000 bytes".
std::string describe(MPI_Datatype datatype, const Converted &converted);

} // namespace ucd_mpi
