// Loaded after libucd-mpi-preload: the program is asked before MPI ends a session.
#include <mpi.h>
#include <mutex>

extern "C" void before_session_ends();

extern "C" int MPI_Session_finalize(MPI_Session *session) {
    static std::mutex one;
    before_session_ends();
    const std::lock_guard lock(one);
    return PMPI_Session_finalize(session);
}
