// A profiling tool: counts calls, and how many are given derived types. Passes them on to the next
// library. With UCD_TEST_DEVICE, it also counts messages whose data begins in a device's memory
// that the address of their buffer is not in.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mpi.h>
#include <ucd.h>

namespace {

struct Count {
    const char *name;
    std::atomic<int> calls = 0, derived = 0; // several threads call
};
Count counts[] = {{"Pack"}, {"Isend"}, {"Irecv"}, {"Bcast"}};

bool is_on_device(const void *address) {
    static const auto get_memory =
        reinterpret_cast<decltype(&ucd_get_memory)>(dlsym(RTLD_DEFAULT, "ucd_get_memory"));
    char memory[32] = "";
    std::uintptr_t needed = 0;
    return get_memory != nullptr &&
           get_memory(address, 1, UCD_TYPE__BYTE, nullptr, memory, sizeof memory, &needed) ==
               UCD_SUCCESS &&
           std::strchr(memory, ':') != nullptr;
}

std::atomic<int> hidden = 0;

void look_at(const void *buffer, int n, MPI_Datatype datatype) {
    static const bool has_device = std::getenv("UCD_TEST_DEVICE") != nullptr;
    MPI_Aint lb = 0, extent = 0;
    if (!has_device || n == 0) return;
    PMPI_Type_get_true_extent(datatype, &lb, &extent);
    const auto first = reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(lb);
    if (extent > 0 && is_on_device(reinterpret_cast<const void *>(first)) && !is_on_device(buffer))
        ++hidden;
}

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
    look_at(buf, n, datatype);
    return NEXT(MPI_Isend)(buf, n, datatype, dest, tag, comm, request);
}

int MPI_Irecv(void *buf, int n, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request *request) {
    count(2, datatype);
    look_at(buf, n, datatype);
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
    std::fprintf(stderr, "counter: rank %d: %d messages hide their device\n", rank, hidden.load());
    return NEXT(MPI_Finalize)();
}

} // extern "C"
