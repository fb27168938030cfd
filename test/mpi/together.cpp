// Loaded after libucd-mpi-preload: the first two calls of MPI_Session_finalize are in it at the
// same time.
#include <atomic>
#include <latch>
#include <mpi.h>
#include <mutex>

extern "C" int MPI_Session_finalize(MPI_Session *session) {
    static std::atomic<int> calls = 0;
    static std::latch both(2);
    static std::mutex one;
    if (++calls <= 2) both.arrive_and_wait();
    const std::lock_guard lock(one);
    return PMPI_Session_finalize(session);
}
