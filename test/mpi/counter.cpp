// A profiling tool: counts calls, and how many are given derived types. Passes them on to the next
// library.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <atomic>
#include <cstdio>
#include <dlfcn.h>
#include <mpi.h>

namespace {

struct Count {
    const char *name;
    std::atomic<int> calls = 0, derived = 0; // several threads call
};
Count counts[] = {{"Pack"}, {"Isend"}, {"Irecv"}, {"Bcast"}};

void count(int call, MPI_Datatype datatype) {
    int integers = 0, addresses = 0, datatypes = 0, combiner = 0;
    PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner);
    ++counts[call].calls;
    counts[call].derived += combiner != MPI_COMBINER_NAMED;
}

} // namespace

#define NEXT(name) reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name))

extern "C" {

int MPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
             int *position, MPI_Comm comm) {
    count(0, datatype);
    return NEXT(MPI_Pack)(inbuf, incount, datatype, outbuf, outsize, position, comm);
}

int MPI_Isend(const void *buf, int n, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request) {
    count(1, datatype);
    return NEXT(MPI_Isend)(buf, n, datatype, dest, tag, comm, request);
}

int MPI_Irecv(void *buf, int n, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request *request) {
    count(2, datatype);
    return NEXT(MPI_Irecv)(buf, n, datatype, source, tag, comm, request);
}

int MPI_Bcast(void *buffer, int n, MPI_Datatype datatype, int root, MPI_Comm comm) {
    count(3, datatype);
    return NEXT(MPI_Bcast)(buffer, n, datatype, root, comm);
}

int MPI_Finalize() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (const Count &c : counts)
        std::fprintf(stderr, "counter: rank %d: %s: %d calls, %d derived\n", rank, c.name,
                     c.calls.load(), c.derived.load());
    return NEXT(MPI_Finalize)();
}

} // extern "C"
