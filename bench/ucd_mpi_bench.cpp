// What libucd-mpi-preload changes: each measurement is done by MPI_ calls, which the library takes
// over, and by PMPI_ calls, which are the MPI library's own, in turns.
//
//     mpirun -n 2 ucd-mpi-run -- ucd-mpi-bench-openmpi [--only SECTION] [--seconds S] [BYTES...]
//     mpirun -n 2 ucd-mpi-run -- ucd-mpi-bench-openmpi --gpu cuda:0,cuda:1 [--only SECTION]
//     [--seconds S] [BYTES...]
//     mpirun -n 2 env UCD_MPI_ALWAYS=1 ucd-mpi-run -- ucd-mpi-bench-openmpi --write-table FILE
//     mpirun -n 2 ucd-mpi-run -- ucd-mpi-bench-openmpi --gpu cuda:0,cuda:1 --write-table FILE
//
// BYTES are the sizes of messages, from 64 on. Times are medians of several rounds; the plain
// library is measured twice, which shows how much times vary by themselves. S is how long each case
// may take, 0.5 by default. SECTION is pack, ping-pong (of two processes), table (both, for the
// layouts of ucd-bench's tables), programs (exchanges with computation between them), fresh (types
// that are made anew for each message), collectives or halo; all are run if none is named.
//
// With --gpu, the data is in the memory of these devices, of which the processes take one after the
// other; SECTION is then ping-pong, exchange or collectives (MPI_Alltoall). Beside UCD by each way
// (packed in the device's memory, in pinned host memory, and what it chooses itself) stand the
// plain library where it reads device memory, and what users write themselves: the copy engines
// (cudaMemcpy2D) to pinned memory; a kernel that packs on the device, and a copy to pinned memory;
// such a kernel, and MPI's contiguous message of device memory.
//
// --write-table writes the rows for this MPI library in src/mpi/preload/tables; with --gpu, those
// for device memory. Without --gpu, one process packs only.

#include "cases/mpi/sections.hpp"
#include "harness/mpi/turns.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace bench;

namespace {

struct Options {
    std::string devices, only, table;
    Sizes sizes;
};

int refuse(const char *why) {
    if (rank == 0) std::fprintf(stderr, "ucd-mpi-bench: %s\n", why);
    return 2;
}

int run(const Options &options) {
    if (!options.table.empty() && !options.devices.empty())
        return write_device_tuning(options.devices, options.table)
                   ? 0
                   : refuse("it needs two processes, libucd-mpi-preload, an MPI library that reads "
                            "device memory, and a file to write");
    if (!options.table.empty())
        return write_tuning(options.table) ? 0
                                           : refuse("it needs two processes, UCD_MPI_ALWAYS=1 and "
                                                    "a file to write");
    if (!options.devices.empty()) {
        if (!has_preload())
            return refuse("libucd-mpi-preload is not loaded; run it by ucd-mpi-run");
        return device_section(options.devices, options.only, options.sizes) ? 0 : 2;
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
    for (int i = 1; i + 1 < argc; ++i)
        if (std::string_view(argv[i]) == "--gpu") use_device(argv[i + 1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--gpu" && i + 1 < argc)
            options.devices = argv[++i];
        else if (argument == "--only" && i + 1 < argc)
            options.only = argv[++i];
        else if (argument == "--seconds" && i + 1 < argc)
            seconds_for_case = std::atof(argv[++i]);
        else if (argument == "--write-table" && i + 1 < argc)
            options.table = argv[++i];
        else
            options.sizes.push_back(std::max(64, std::atoi(argv[i])));
    }
    if (options.sizes.empty() && options.devices.empty())
        options.sizes = {512, 4 << 10, 64 << 10, 1 << 20};
    else if (options.sizes.empty())
        options.sizes = {1 << 10, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20};
    const int status = run(options);
    MPI_Finalize();
    return status;
}
