// The MPI library's header, without its C++ bindings.
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

// The constants of Open MPI are addresses of variables. They are looked up when they are first
// used, because libucd-mpi-preload may be loaded long before the program's MPI library, or without
// any.
#ifdef OPEN_MPI
#include "types/late_constant.h"
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) static_cast<type>(ucd_mpi::late_address<#global>())
#endif
