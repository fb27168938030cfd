#include "mpi/processes.hpp"

#include <cstdio>
#include <cstdlib>

namespace ucdtest {

int rank = -1;
std::string current;

void fail(const char *what, int line) {
    std::fprintf(stderr, "line %d: rank %d: %s: %s\n", line, rank, what, current.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

} // namespace ucdtest
