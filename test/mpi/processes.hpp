// What programs of several processes share: they check what arrives, and all end if something is
// wrong.
#pragma once

#include "mpi/mpi_build.hpp"

#include <string>

namespace ucdtest {

extern int rank;
extern std::string current; // what is being tested

// Says so, and ends all processes.
[[noreturn]] void fail(const char *what, int line);

} // namespace ucdtest

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) ::ucdtest::fail(#condition, __LINE__);                                   \
    } while (false)
#define MPI_OK(call) CHECK((call) == MPI_SUCCESS)
