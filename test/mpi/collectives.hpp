// What the parts of the collective calls' program share.
#pragma once

#include "mpi/processes.hpp"
#include "support/random/rng.hpp"

namespace ucdtest {

extern int processes;

// Which bytes, from a buffer's address on, `items` of a type may be in.
struct Range {
    MPI_Aint low = 0, high = 0;
};
Range range_of(MPI_Datatype type, int items);
// So that the library has learnt the type, even if others of its size were not worth it.
void warm(MPI_Datatype type);

// Compares a number of random calls with the plain library's.
void random_collectives(std::uint64_t seed, int cases);
// Cases of their own, one after the other.
void named_collectives();

} // namespace ucdtest
