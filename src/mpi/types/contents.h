// How an MPI datatype was built.
#pragma once

#include "types/c_mpi.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucd_mpi {

// The combiner of an unnamed type of MPI_Type_get_value_index: a pair of two predefined types.
inline bool is_pair(int combiner) {
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    return combiner == MPI_COMBINER_VALUE_INDEX;
#else
    (void)combiner;
    return false;
#endif
}

// Predefined types must not be freed. The types of MPI_Type_create_f90_* and pairs have arguments,
// but no name.
inline bool is_predefined(int combiner) {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
           is_pair(combiner);
}

struct Contents {
    int combiner = MPI_COMBINER_NAMED;
    // The constructor's numeric arguments (int, MPI_Aint and MPI_Count) in the order of its C
    // binding, arrays in one piece.
    std::vector<std::intptr_t> numbers;
    // The caller frees these handles, except those of predefined types.
    std::vector<MPI_Datatype> types;
};

// Says how many numbers and how many types the constructor was given.
struct Envelope {
    int combiner = MPI_COMBINER_NAMED;
    std::uint64_t numbers = 0, types = 0;
};

// These return a status of ucd.h.
int read_envelope(MPI_Datatype datatype, Envelope &envelope);
int read_contents(MPI_Datatype datatype, Contents &contents);

struct Bounds {
    std::intptr_t lb = 0, extent = 0;
    friend bool operator==(const Bounds &, const Bounds &) = default;
};
int read_bounds(MPI_Datatype datatype, Bounds &bounds);
int read_true_bounds(MPI_Datatype datatype, Bounds &bounds);
int read_size(MPI_Datatype datatype, std::uintptr_t &size);

} // namespace ucd_mpi
