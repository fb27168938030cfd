// What the parts of the exchange program share: two processes that check what arrives.
#pragma once

#include "mpi/mpi_build.hpp"
#include "support/random/rng.hpp"

#include <string>

namespace ucdtest {

extern int rank;
extern std::string current; // what is being tested

// Says so, and ends both processes.
[[noreturn]] void fail(const char *what, int line);

// A few messages of random types, sent and received in random ways.
void random_messages(Rng &rng);
// Cases of their own, one after the other.
void named_cases();

} // namespace ucdtest

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) ::ucdtest::fail(#condition, __LINE__);                                   \
    } while (false)
#define MPI_OK(call) CHECK((call) == MPI_SUCCESS)
