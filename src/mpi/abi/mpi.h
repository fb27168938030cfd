// For libraries that are built for the ABI of MPI 5: what they include as <mpi.h> is that ABI's
// header, whichever MPI library has it.
#pragma once

#include <mpi_abi.h>
