#include "preload/participation.h"

namespace ucd_mpi {
namespace {

// False for an intercommunicator, whose two groups have different roles: such calls are left to
// MPI.
bool has_one_group(MPI_Comm comm) {
    int inter = 1;
    return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter == 0;
}

// At the border of a grid a neighbour may be MPI_PROC_NULL: its block in the receive buffer then
// stays unchanged.
bool find_grid_neighbours(MPI_Comm comm, Participation &p) {
    int dimensions = 0;
    if (PMPI_Cartdim_get(comm, &dimensions) != MPI_SUCCESS) return false;
    p.sends_to = p.receives_from = 2 * dimensions;
    for (int i = 0; i < dimensions; ++i) {
        int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
        if (PMPI_Cart_shift(comm, i, 1, &below, &above) != MPI_SUCCESS) return false;
        if (below == MPI_PROC_NULL || above == MPI_PROC_NULL) p.kept = Participation::Kept::all;
    }
    return true;
}

bool find_neighbours(MPI_Comm comm, Participation &p) {
    int topology = MPI_UNDEFINED, weighted = 0;
    if (PMPI_Topo_test(comm, &topology) != MPI_SUCCESS) return false;
    if (topology == MPI_CART) return find_grid_neighbours(comm, p);
    if (topology == MPI_DIST_GRAPH)
        return PMPI_Dist_graph_neighbors_count(comm, &p.receives_from, &p.sends_to, &weighted) ==
               MPI_SUCCESS;
    if (topology != MPI_GRAPH ||
        PMPI_Graph_neighbors_count(comm, p.rank, &p.sends_to) != MPI_SUCCESS)
        return false;
    p.receives_from = p.sends_to;
    return true;
}

} // namespace

Reads arguments_read(Pattern pattern, const void *sendbuf, const void *recvbuf, int root,
                     MPI_Comm comm) {
    Reads reads = {sendbuf != MPI_IN_PLACE, recvbuf != MPI_IN_PLACE};
    const bool to_root = pattern == Pattern::gather;
    const bool from_root = pattern == Pattern::scatter || pattern == Pattern::broadcast;
    if (!to_root && !from_root) return reads;
    int rank = MPI_UNDEFINED;
    if (!has_one_group(comm) || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS) return {};
    if (rank != root) (to_root ? reads.receive : reads.send) = false;
    if (rank == root && pattern == Pattern::broadcast) reads.receive = false;
    return reads;
}

std::optional<Participation> participation(Pattern pattern, const void *sendbuf, MPI_Comm comm) {
    Participation p;
    int size = 0;
    if (!has_one_group(comm) || PMPI_Comm_rank(comm, &p.rank) != MPI_SUCCESS ||
        PMPI_Comm_size(comm, &size) != MPI_SUCCESS)
        return std::nullopt;
    p.alone = size == 1;
    using Kept = Participation::Kept;
    const bool in_place = sendbuf == MPI_IN_PLACE;
    switch (pattern) {
    case Pattern::broadcast: break;
    case Pattern::scatter: p.sends_to = size; break;
    case Pattern::gather:
    case Pattern::allgather:
        p.receives_from = size;
        if (in_place) p.kept = Kept::own;
        break;
    case Pattern::alltoall:
        p.sends_to = p.receives_from = size;
        if (in_place) p.kept = Kept::all;
        break;
    case Pattern::neighbor_allgather:
    case Pattern::neighbor_alltoall:
        if (!find_neighbours(comm, p)) return std::nullopt;
        if (pattern == Pattern::neighbor_allgather) p.sends_to = 1;
        break;
    }
    return p;
}

} // namespace ucd_mpi
