// How fast UCD and MPI move data of one type, measured in memory of this library.
#pragma once

#include "types/c_mpi.h"

#include <ucd.h>

#include <cstdint>
#include <optional>

namespace ucd_mpi {

struct Comparison {
    double mpi_to_ucd = 1;   // time of MPI's packing and unpacking, divided by UCD's
    double copy_seconds = 0; // of a byte
};

// `bytes` is how much is usually moved at once. Takes some milliseconds. Nothing if the type
// stretches too far, or MPI fails.
std::optional<Comparison> compare(MPI_Datatype datatype, ucd_type_t type, std::uintptr_t bytes);

} // namespace ucd_mpi
