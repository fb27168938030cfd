// What the parts of the exchange program share: two processes that check what arrives.
#pragma once

#include "mpi/processes.hpp"
#include "support/random/rng.hpp"

namespace ucdtest {

// A few messages of random types, sent and received in random ways.
void random_messages(Rng &rng);
// Cases of their own, one after the other.
void named_cases();
// Of these, those of requests that change, or that are looked at.
void request_cases();
// Types without gaps.
void device_cases();
// MPI_Isendrecv and MPI_Isendrecv_replace, if MPI has them. By itself, MPICH 4.0 frees the types.
void nonblocking_both_ways();

} // namespace ucdtest
