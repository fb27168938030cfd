// Whether MPI_COMM_WORLD and MPI_COMM_SELF exist. Programs with sessions only have none.
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
