// In place of mpi_peer.cpp where there is no MPI.
#include "baselines/mpi/mpi_peer.hpp"

namespace bench {

std::unique_ptr<MpiPeer> start_mpi() {
    return nullptr;
}

} // namespace bench
