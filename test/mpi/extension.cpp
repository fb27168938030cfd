// What an interpreter loads as an extension module: it alone brings MPI into the process.

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <cstdio>
#include <mpi.h>
#include <vector>

extern "C" int use_mpi() {
    constexpr int n = 4000;
    std::vector<int> from(3 * n), to(n);
    for (int i = 0; i < 3 * n; ++i) from[static_cast<std::size_t>(i)] = i;
    MPI_Datatype third = MPI_DATATYPE_NULL;
    int position = 0, bad = 0;
    MPI_Init(nullptr, nullptr);
    MPI_Type_vector(n, 1, 3, MPI_INT, &third);
    MPI_Type_commit(&third);
    for (int times = 0; times < 4; ++times) {
        position = 0;
        MPI_Pack(from.data(), 1, third, to.data(), n * static_cast<int>(sizeof(int)), &position,
                 MPI_COMM_WORLD);
        for (int i = 0; i < n; ++i) bad += to[static_cast<std::size_t>(i)] != 3 * i;
    }
    MPI_Type_free(&third);
    MPI_Finalize();
    if (bad == 0) std::puts("all elements are right");
    return bad;
}
