// Which arguments of a collective call MPI reads on this process, and how many blocks they
// describe.
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

// Arguments that MPI does not read on this process may have any value.
struct Reads {
    bool send = false, receive = false;
};
// `root` is for broadcast, gather and scatter. Both false if the call is left to MPI because of its
// communicator.
Reads arguments_read(Pattern pattern, const void *sendbuf, const void *recvbuf, int root,
                     MPI_Comm comm);

struct Participation {
    int sends_to = 1, receives_from = 1; // number of blocks in the buffers
    int rank = 0;
    bool alone = false; // no other process takes part: MPI copies, or does nothing
    // The part of the receive buffer that MPI reads, or leaves unchanged.
    enum class Kept { none, own, all } kept = Kept::none;
};
// Nothing if the call is left to MPI.
std::optional<Participation> participation(Pattern pattern, const void *sendbuf, MPI_Comm comm);

} // namespace ucd_mpi
