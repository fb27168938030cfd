// Run by two processes with libucd-mpi-preload: each function of MPI 4 whose counts are MPI_Count
// is called, in its blocking, nonblocking and persistent form. Messages are checked, and what
// collective calls receive is compared with the function of MPI itself.

#include "mpi/processes.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace ucdtest;

namespace {

#if MPI_VERSION >= 4

constexpr int n = 3000;
MPI_Datatype third = MPI_DATATYPE_NULL; // each third double of `n`, resized to 3 * n of them

std::vector<double> numbers(int items, double first) {
    std::vector<double> all(static_cast<std::size_t>(3 * n * items), -1);
    for (std::size_t i = 0; i < all.size(); i += 3) all[i] = first + static_cast<double>(i);
    return all;
}
std::vector<double> nothing(int items) {
    return std::vector<double>(static_cast<std::size_t>(3 * n * items), -1);
}

int start_and_wait(MPI_Request *request) {
    const int rc = MPI_Start(request);
    if (rc != MPI_SUCCESS) return rc;
    MPI_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    return MPI_Request_free(request);
}

// From process 0 to process 1, by a function each.
template <class Send, class Receive>
void message(const char *what, Send send, Receive receive) {
    current = what;
    const std::vector<double> sent = numbers(2, 7);
    std::vector<double> received = nothing(2);
    if (rank == 1) MPI_OK(MPI_Send(nullptr, 0, MPI_INT, 0, 9, MPI_COMM_WORLD));
    if (rank == 0) MPI_OK(MPI_Recv(nullptr, 0, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank == 0)
        MPI_OK(send(sent.data()));
    else
        MPI_OK(receive(received.data()));
    CHECK(rank == 0 || received == sent);
}

void sends() {
    MPI_Request request = MPI_REQUEST_NULL;
    const auto receive = [](double *b) {
        return MPI_Recv_c(b, 2, third, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    const auto blocking = [&](const char *what, auto call) {
        message(
            what, [&](const double *b) { return call(b, 2, third, 1, 1, MPI_COMM_WORLD); },
            receive);
    };
    blocking("MPI_Send_c", MPI_Send_c);
    blocking("MPI_Ssend_c", MPI_Ssend_c);
    blocking("MPI_Bsend_c", MPI_Bsend_c);
    const auto nonblocking = [&](const char *what, auto call) {
        message(
            what,
            [&](const double *b) {
                MPI_OK(call(b, 2, third, 1, 1, MPI_COMM_WORLD, &request));
                return MPI_Wait(&request, MPI_STATUS_IGNORE);
            },
            receive);
    };
    nonblocking("MPI_Isend_c", MPI_Isend_c);
    nonblocking("MPI_Issend_c", MPI_Issend_c);
    nonblocking("MPI_Ibsend_c", MPI_Ibsend_c);
    const auto persistent = [&](const char *what, auto call) {
        message(
            what,
            [&](const double *b) {
                MPI_OK(call(b, 2, third, 1, 1, MPI_COMM_WORLD, &request));
                return start_and_wait(&request);
            },
            receive);
    };
    persistent("MPI_Send_init_c", MPI_Send_init_c);
    persistent("MPI_Ssend_init_c", MPI_Ssend_init_c);
    persistent("MPI_Bsend_init_c", MPI_Bsend_init_c);
    // The receiver is there first.
    const auto ready = [&](const char *what, auto send) {
        message(
            what,
            [&](const double *b) {
                MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
                return send(b);
            },
            [&](double *b) {
                MPI_OK(MPI_Irecv_c(b, 2, third, 0, 1, MPI_COMM_WORLD, &request));
                MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
                return MPI_Wait(&request, MPI_STATUS_IGNORE);
            });
    };
    ready("MPI_Rsend_c",
          [](const double *b) { return MPI_Rsend_c(b, 2, third, 1, 1, MPI_COMM_WORLD); });
    ready("MPI_Irsend_c", [&](const double *b) {
        MPI_OK(MPI_Irsend_c(b, 2, third, 1, 1, MPI_COMM_WORLD, &request));
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
    ready("MPI_Rsend_init_c", [&](const double *b) {
        MPI_OK(MPI_Rsend_init_c(b, 2, third, 1, 1, MPI_COMM_WORLD, &request));
        return start_and_wait(&request);
    });
}

void receives() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message matched = MPI_MESSAGE_NULL;
    const auto send = [](const double *b) { return MPI_Send(b, 2, third, 1, 1, MPI_COMM_WORLD); };
    message("MPI_Recv_init_c", send, [&](double *b) {
        MPI_OK(MPI_Recv_init_c(b, 2, third, 0, 1, MPI_COMM_WORLD, &request));
        return start_and_wait(&request);
    });
    message("MPI_Mrecv_c", send, [&](double *b) {
        MPI_OK(MPI_Mprobe(0, 1, MPI_COMM_WORLD, &matched, MPI_STATUS_IGNORE));
        return MPI_Mrecv_c(b, 2, third, &matched, MPI_STATUS_IGNORE);
    });
    message("MPI_Imrecv_c", send, [&](double *b) {
        MPI_OK(MPI_Mprobe(0, 1, MPI_COMM_WORLD, &matched, MPI_STATUS_IGNORE));
        MPI_OK(MPI_Imrecv_c(b, 2, third, &matched, &request));
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
}

void both_ways() {
    const int other = 1 - rank;
    MPI_Request request = MPI_REQUEST_NULL;
    const std::vector<double> sent = numbers(1, rank), expected = numbers(1, other);
    std::vector<double> received = nothing(1);
    current = "MPI_Sendrecv_c";
    MPI_OK(MPI_Sendrecv_c(sent.data(), 1, third, other, 1, received.data(), 1, third, other, 1,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(received == expected);
    current = "MPI_Isendrecv_c";
    received = nothing(1);
    MPI_OK(MPI_Isendrecv_c(sent.data(), 1, third, other, 1, received.data(), 1, third, other, 1,
                           MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(received == expected);
    current = "MPI_Sendrecv_replace_c";
    received = sent;
    MPI_OK(MPI_Sendrecv_replace_c(received.data(), 1, third, other, 1, other, 1, MPI_COMM_WORLD,
                                  MPI_STATUS_IGNORE));
    CHECK(received == expected);
    current = "MPI_Isendrecv_replace_c";
    received = sent;
    MPI_OK(MPI_Isendrecv_replace_c(received.data(), 1, third, other, 1, other, 1, MPI_COMM_WORLD,
                                   &request));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(received == expected);
}

void packing() {
    current = "MPI_Pack_c";
    const std::vector<double> from = numbers(2, 5);
    std::vector<double> packed(2 * n), to = nothing(2);
    const auto size = static_cast<MPI_Count>(packed.size() * sizeof(double));
    MPI_Count position = 0;
    MPI_OK(MPI_Pack_c(from.data(), 2, third, packed.data(), size, &position, MPI_COMM_WORLD));
    CHECK(position == size);
    for (std::size_t i = 0; i < packed.size(); ++i) CHECK(packed[i] == from[3 * i]);
    position = 0;
    MPI_OK(MPI_Unpack_c(packed.data(), size, &position, to.data(), 2, third, MPI_COMM_WORLD));
    CHECK(position == size && to == from);
}

// The buffer of a broadcast: the root has what it sends there.
double *filled_by_root(double *to, const double *from) {
    if (rank == 1) std::copy_n(from, 3 * n, to);
    return to;
}

// `first` calls the library's function, `again` MPI's; they receive the same.
template <class First, class Again>
void compare(const char *what, First first, Again again) {
    current = what;
    std::vector<double> received = nothing(2), expected = nothing(2);
    MPI_OK(first(received.data()));
    MPI_OK(again(expected.data()));
    CHECK(received == expected);
}

// MPICH 4.0 frees derived types of persistent collective calls too early.
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 50000000
const bool keeps_types = false;
#else
const bool keeps_types = true;
#endif

// Of a function, by its names: what follows are its arguments, with `to`, `type` and `types`.
#define EACH_FORM(name, iname, ...)                                                                \
    do {                                                                                           \
        MPI_Datatype type = third;                                                                 \
        MPI_Request request = MPI_REQUEST_NULL;                                                    \
        const auto by_mpi = [&](double *to) { return PMPI_##name##_c(__VA_ARGS__); };              \
        compare(                                                                                   \
            "MPI_" #name "_c", [&](double *to) { return MPI_##name##_c(__VA_ARGS__); }, by_mpi);   \
        compare(                                                                                   \
            "MPI_" #iname "_c",                                                                    \
            [&](double *to) {                                                                      \
                MPI_OK(MPI_##iname##_c(__VA_ARGS__, &request));                                    \
                return MPI_Wait(&request, MPI_STATUS_IGNORE);                                      \
            },                                                                                     \
            by_mpi);                                                                               \
        if (!keeps_types) type = types[0] = types[1] = MPI_DOUBLE;                                 \
        compare(                                                                                   \
            "MPI_" #name "_init_c",                                                                \
            [&](double *to) {                                                                      \
                MPI_OK(MPI_##name##_init_c(__VA_ARGS__, MPI_INFO_NULL, &request));                 \
                return start_and_wait(&request);                                                   \
            },                                                                                     \
            by_mpi);                                                                               \
        types[0] = types[1] = third;                                                               \
    } while (false)

void collectives() {
    const std::vector<double> sent = numbers(2, 100 * rank + 1);
    const double *const from = sent.data();
    const MPI_Count counts[2] = {1, 1};
    const MPI_Aint displs[2] = {0, 1}, bytes[2] = {0, 3 * n * 8};
    MPI_Datatype types[2] = {third, third};
    MPI_Comm comm = MPI_COMM_WORLD;
    EACH_FORM(Bcast, Ibcast, filled_by_root(to, from), 1, type, 1, comm);
    EACH_FORM(Gather, Igather, from, 1, type, to, 1, type, 1, comm);
    EACH_FORM(Gatherv, Igatherv, from, 1, type, to, counts, displs, type, 1, comm);
    EACH_FORM(Scatter, Iscatter, from, 1, type, to, 1, type, 1, comm);
    EACH_FORM(Scatterv, Iscatterv, from, counts, displs, type, to, 1, type, 1, comm);
    EACH_FORM(Allgather, Iallgather, from, 1, type, to, 1, type, comm);
    EACH_FORM(Allgatherv, Iallgatherv, from, 1, type, to, counts, displs, type, comm);
    EACH_FORM(Alltoall, Ialltoall, from, 1, type, to, 1, type, comm);
    EACH_FORM(Alltoallv, Ialltoallv, from, counts, displs, type, to, counts, displs, type, comm);
    EACH_FORM(Alltoallw, Ialltoallw, from, counts, bytes, types, to, counts, bytes, types, comm);
    const int size = 2, periodic = 1;
    MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm));
    EACH_FORM(Neighbor_allgather, Ineighbor_allgather, from, 1, type, to, 1, type, comm);
    EACH_FORM(Neighbor_allgatherv, Ineighbor_allgatherv, from, 1, type, to, counts, displs, type,
              comm);
    EACH_FORM(Neighbor_alltoall, Ineighbor_alltoall, from, 1, type, to, 1, type, comm);
    EACH_FORM(Neighbor_alltoallv, Ineighbor_alltoallv, from, counts, displs, type, to, counts,
              displs, type, comm);
    EACH_FORM(Neighbor_alltoallw, Ineighbor_alltoallw, from, counts, bytes, types, to, counts,
              bytes, types, comm);
    MPI_OK(MPI_Comm_free(&comm));
}

void all() {
    MPI_Datatype vector = MPI_DATATYPE_NULL;
    MPI_OK(MPI_Type_vector(n, 1, 3, MPI_DOUBLE, &vector));
    MPI_OK(MPI_Type_create_resized(vector, 0, 3 * n * 8, &third));
    MPI_OK(MPI_Type_commit(&third));
    MPI_OK(MPI_Type_free(&vector));
    std::vector<char> room(1 << 20);
    MPI_OK(MPI_Buffer_attach(room.data(), static_cast<int>(room.size())));
    packing();
    sends();
    receives();
    both_ways();
    collectives();
    void *detached = nullptr;
    int size = 0;
    MPI_OK(MPI_Buffer_detach(&detached, &size));
    MPI_OK(MPI_Type_free(&third));
}

#else

void all() {}

#endif

} // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    all();
    MPI_Finalize();
    if (rank == 0) std::puts("all forms are right");
    return 0;
}
