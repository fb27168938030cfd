// MPI datatypes of recipes. Errors of MPI calls abort with MPI's message, as its default error
// handler does.
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include "shapes/recipe.hpp"

#include <cstdint>
#include <mpi.h>

namespace bench {

// Not committed; the caller's, to be freed.
MPI_Datatype build_datatype(const Recipe &recipe);

// MPI's counts. Throws std::runtime_error if the value does not fit.
int narrow(std::intptr_t value);

} // namespace bench
