// What libucd-mpi-preload changes: each measurement is done by MPI_ calls, which the library takes
// over, and by PMPI_ calls, which are the MPI library's own, in turns.
//
//     mpirun -n 2 ucd-mpi-run -- ucd-mpi-bench-openmpi [--memory DEVICE] [--only SECTION]
//     [--seconds S] [BYTES...]
//     mpirun -n 2 env UCD_MPI_ALWAYS=1 ucd-mpi-run -- ucd-mpi-bench-openmpi --write-table FILE
//
// BYTES are the sizes of messages, from 64 on. Times are medians of several rounds; the plain
// library is measured twice, which shows how much times vary by themselves. S is how long each case
// may take, 0.5 by default. SECTION is pack, ping-pong (of two processes), table (both, for the
// layouts of ucd-bench's tables), programs (exchanges with computation between them), fresh (types
// that are made anew for each message), collectives or halo; all are run if none is named.
// --write-table writes the rows for this MPI library in src/mpi/preload/tables. With --memory
// cuda:0, the data is in that device's memory, in ping-pong and MPI_Alltoall; beside UCD stand what users write themselves: a
// kernel that packs on the device and a copy to the host, and the copy engines (cudaMemcpy2D).
// Without it, one process packs only.

#include "cases/mpi/sections.hpp"
#include "harness/mpi/turns.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace bench;

namespace {

struct Options {
    std::string memory = "host", only, table;
    Sizes sizes;
};

int refuse(const char *why) {
    if (rank == 0) std::fprintf(stderr, "ucd-mpi-bench: %s\n", why);
    return 2;
}

int run(const Options &options) {
    if (!options.table.empty())
        return write_tuning(options.table) ? 0
                                           : refuse("it needs two processes, UCD_MPI_ALWAYS=1 and "
                                                    "a file to write");
    if (options.memory != "host") {
        if (!has_preload())
            return refuse("libucd-mpi-preload is not loaded; run it by ucd-mpi-run");
        return device_section(options.memory, options.sizes) ? 0 : 2;
    }
    const auto wanted = [&](std::string_view section) {
        return options.only.empty() || options.only == section;
    };
    if (!has_preload() && rank == 0)
        std::puts("libucd-mpi-preload is not loaded: both times are those of the MPI library");
    if (wanted("pack")) pack_section(options.sizes);
    if (processes == 2 && wanted("ping-pong")) ping_pong_section(options.sizes);
    if (wanted("table")) table_section();
    if (wanted("programs")) program_section();
    if (wanted("fresh")) fresh_section(options.sizes);
    if (processes > 1 && wanted("collectives")) collective_section(options.sizes);
    if (processes > 1 && wanted("halo")) halo_section(options.sizes);
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--memory" && i + 1 < argc)
            options.memory = argv[++i];
        else if (argument == "--only" && i + 1 < argc)
            options.only = argv[++i];
        else if (argument == "--seconds" && i + 1 < argc)
            seconds_for_case = std::atof(argv[++i]);
        else if (argument == "--write-table" && i + 1 < argc)
            options.table = argv[++i];
        else
            options.sizes.push_back(std::max(64, std::atoi(argv[i])));
    }
    if (options.sizes.empty()) options.sizes = {512, 4 << 10, 64 << 10, 1 << 20};
    const int status = run(options);
    MPI_Finalize();
    return status;
}
