// Run by two processes with libucd-mpi-preload: messages of random types, sent and received in
// every way, some by MPI itself (PMPI_*) at one end. Each byte that arrives is compared with the
// type map.
//
//     exchange [CASES [isendrecv]]

#include "mpi/exchange.hpp"
#include "mpi/placed.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace ucdtest;

int main(int argc, char **argv) {
    start_mpi();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<char> room(8 << 20);
    MPI_OK(MPI_Buffer_attach(room.data(), static_cast<int>(room.size())));
    const int cases = argc > 1 ? std::atoi(argv[1]) : 150;
    const char *seed = std::getenv("UCD_TEST_SEED");
    const std::uint64_t first = seed != nullptr ? std::strtoull(seed, nullptr, 0) : 20250101;
    for (int i = 0; i < cases; ++i) {
        current = "case " + std::to_string(i) + ": ";
        Rng rng(mix_seed(first, static_cast<std::uint64_t>(i)));
        random_messages(rng);
    }
    named_cases();
    if (has_device()) device_cases();
    if (argc > 2) nonblocking_both_ways();
    void *detached = nullptr;
    int size = 0;
    MPI_OK(MPI_Buffer_detach(&detached, &size));
    if (rank == 0) std::puts("all messages arrived");
    return 0;
}
