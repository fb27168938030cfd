// Whether MPI_COMM_WORLD and MPI_COMM_SELF exist; they do not in programs that use sessions only.
#pragma once

#include "types/c_mpi.h"

namespace ucd_mpi {

inline bool has_world() {
    int initialised = 0, finalised = 0;
    PMPI_Initialized(&initialised);
    PMPI_Finalized(&finalised);
    return initialised != 0 && finalised == 0;
}

} // namespace ucd_mpi
