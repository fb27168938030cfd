// Run by a few processes with libucd-mpi-preload: collective calls.

#include "mpi/collectives.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace ucdtest {

int processes = 0;

Range range_of(MPI_Datatype type, int items) {
    MPI_Aint lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    MPI_OK(MPI_Type_get_extent(type, &lb, &extent));
    MPI_OK(MPI_Type_get_true_extent(type, &true_lb, &true_extent));
    const MPI_Aint last = true_lb + (items - 1) * extent;
    return {std::min(true_lb, last), std::max(true_lb, last) + true_extent};
}

void warm(MPI_Datatype type) {
    int size = 0;
    MPI_OK(MPI_Type_size(type, &size));
    const Range range = range_of(type, 1);
    std::vector<std::byte> memory(static_cast<std::size_t>(range.high - range.low));
    std::vector<std::byte> packed(static_cast<std::size_t>(size));
    for (int moved = 0; moved < (9 << 17); moved += size) {
        int position = 0;
        MPI_OK(MPI_Pack(memory.data() - range.low, 1, type, packed.data(), size, &position,
                        MPI_COMM_SELF));
    }
}

} // namespace ucdtest

using namespace ucdtest;

int main(int argc, char **argv) {
    start_mpi();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    const int cases = argc > 1 ? std::atoi(argv[1]) : 180;
    const char *seed = std::getenv("UCD_TEST_SEED");
    const std::uint64_t first = seed != nullptr ? std::strtoull(seed, nullptr, 0) : 20250101;
    random_collectives(first, cases);
    named_collectives();
    if (rank == 0) std::puts("all results agree");
    return 0;
}
