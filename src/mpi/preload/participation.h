// Which of its arguments a collective call reads on this process, and for how many processes.
#pragma once

#include "types/c_mpi.h"

#include <optional>

namespace ucd_mpi {

enum class Pattern {
    broadcast,
    gather,
    scatter,
    allgather,
    alltoall,
    neighbor_allgather,
    neighbor_alltoall,
};

// Arguments that are not read here may be anything.
struct Reads {
    bool send = false, receive = false;
};
// `root` is for broadcast, gather and scatter. None if the communicator is one that the call is
// left to MPI for.
Reads arguments_read(Pattern pattern, const void *sendbuf, const void *recvbuf, int root,
                     MPI_Comm comm);

struct Participation {
    int sends_to = 1, receives_from = 1; // blocks in the buffers
    int rank = 0;
    bool alone = false; // MPI copies, or does nothing
    // What of the receive buffer MPI reads, or leaves as it is.
    enum class Kept { none, own, all } kept = Kept::none;
};
// Nothing if the call is left to MPI.
std::optional<Participation> participation(Pattern pattern, const void *sendbuf, MPI_Comm comm);

} // namespace ucd_mpi
