// The <mpi.h> of libraries that are built for the ABI of MPI 5: the header of that ABI, whichever
// MPI library provides it.
#pragma once

#include <mpi_abi.h>
