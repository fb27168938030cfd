#include "mpi/exchange.hpp"
#include "mpi/strided.hpp"

#include <memory>
#include <thread>
#include <vector>

namespace ucdtest {
namespace {

// To the process itself, by MPI_Sendrecv.
void check_moves(Strided &strided, MPI_Datatype datatype, int first) {
    Strided received(static_cast<int>(strided.ints.size() / 3));
    strided.fill(first);
    MPI_OK(MPI_Sendrecv(strided.data(), 1, datatype, rank, 0, received.data(), 1, datatype, rank, 0,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(received.has(first, received.ints.size() / 3));
}

// More than a thread of the library remembers, and then other types, which MPI may give the same
// handles.
void many_types() {
    current = "many types at once";
    for (int n = 650; n < 652; ++n) {
        std::vector<std::unique_ptr<Strided>> all;
        for (int i = 0; i < 200; ++i) all.push_back(std::make_unique<Strided>(n));
        for (const auto &strided : all)
            for (int i = 0; i < 5; ++i) check_moves(*strided, strided->datatype, i);
    }
}

void duplicated_before_use() {
    current = "a duplicate of a type that was not used";
    Strided strided;
    MPI_Datatype original = strided.datatype;
    MPI_OK(MPI_Type_dup(original, &strided.datatype));
    MPI_OK(MPI_Type_free(&original));
    strided.warm();
    check_moves(strided, strided.datatype, 3);
}

void short_message() {
    current = "a message shorter than the receive";
    Strided strided;
    strided.warm();
    std::vector<int> sent(400);
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = 7 + static_cast<int>(3 * i);
    MPI_Status status;
    if (rank == 0) {
        MPI_OK(MPI_Send(sent.data(), 400, MPI_INT, 1, 1, MPI_COMM_WORLD));
        MPI_OK(MPI_Send(sent.data(), 400, MPI_INT, 1, 2, MPI_COMM_WORLD));
        return;
    }
    MPI_OK(MPI_Recv(strided.data(), 1, strided.datatype, 0, 1, MPI_COMM_WORLD, &status));
    CHECK(strided.has(7, 400));
    int elements = 0, items = 0;
    MPI_OK(MPI_Get_elements(&status, strided.datatype, &elements));
    MPI_OK(MPI_Get_count(&status, strided.datatype, &items));
    CHECK(elements == 400 && items == MPI_UNDEFINED);
    strided.clear();
    MPI_OK(MPI_Recv(strided.data(), 1, strided.datatype, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(strided.has(7, 400));
}

void errors_are_those_of_mpi() {
    current = "errors";
    Strided strided, smaller(700);
    strided.warm();
    smaller.warm();
    int code = MPI_SUCCESS;
    const auto class_of = [&](int rc) {
        MPI_Error_class(rc, &code);
        return code;
    };
    MPI_OK(MPI_Send(strided.data(), 1, strided.datatype, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    CHECK(class_of(MPI_Send(strided.data(), 1, strided.datatype, 77, 0, MPI_COMM_WORLD)) ==
          MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(strided.data(), -1, strided.datatype, 0, 0, MPI_COMM_WORLD)) ==
          MPI_ERR_COUNT);
    CHECK(class_of(MPI_Send(strided.data(), 1, strided.datatype, 0, -5, MPI_COMM_WORLD)) ==
          MPI_ERR_TAG);
    if (rank == 0) {
        strided.fill(1);
        for (int tag = 1; tag <= 3; ++tag)
            MPI_OK(MPI_Send(strided.data(), 1, strided.datatype, 1, tag, MPI_COMM_WORLD));
        return;
    }
    CHECK(class_of(MPI_Recv(smaller.data(), 1, smaller.datatype, 0, 1, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_OK(MPI_Irecv(smaller.data(), 1, smaller.datatype, 0, 2, MPI_COMM_WORLD, &request));
    CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
    MPI_OK(MPI_Recv(strided.data(), 1, strided.datatype, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(strided.has(1, 1000));
}

void cancelled_receive() {
    current = "a cancelled receive";
    Strided strided;
    strided.warm();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int cancelled = 0;
    MPI_OK(MPI_Irecv(strided.data(), 1, strided.datatype, 0, 99, MPI_COMM_SELF, &request));
    MPI_OK(MPI_Cancel(&request));
    MPI_OK(MPI_Wait(&request, &status));
    MPI_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled != 0 && request == MPI_REQUEST_NULL && strided.has(0, 0));
}

void freed_while_under_way() {
    current = "types and requests that are freed while under way";
    Strided strided, after;
    strided.warm();
    after.warm();
    MPI_Request request = MPI_REQUEST_NULL;
    int flag = 0;
    if (rank == 0) {
        strided.fill(3);
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
        MPI_OK(MPI_Isend(strided.data(), 1, strided.datatype, 1, 1, MPI_COMM_WORLD, &request));
        MPI_OK(MPI_Type_free(&strided.datatype));
        MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI_OK(MPI_Issend(after.data(), 1, after.datatype, 1, 2, MPI_COMM_WORLD, &request));
        MPI_OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
        return;
    }
    MPI_OK(MPI_Irecv(strided.data(), 1, strided.datatype, 0, 1, MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Type_free(&strided.datatype));
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    while (flag == 0) MPI_OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    CHECK(strided.has(3, 1000));
    strided.ints[0] = 12345; // the user's again: nothing writes it any more
    strided.placed.store();
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    strided.placed.fetch();
    CHECK(strided.ints[0] == 12345);
    MPI_OK(MPI_Recv(after.data(), 1, after.datatype, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
}

void large_message() {
    current = "a message that MPI sends by rendezvous";
    Strided strided(100000);
    strided.warm();
    if (rank == 0) {
        strided.fill(5);
        MPI_OK(MPI_Send(strided.data(), 1, strided.datatype, 1, 1, MPI_COMM_WORLD));
        MPI_OK(PMPI_Send(strided.ints.data(), 1, strided.datatype, 1, 1, MPI_COMM_WORLD));
        MPI_OK(MPI_Send(strided.data(), 1, strided.datatype, 1, 1, MPI_COMM_WORLD));
        return;
    }
    for (int i = 0; i < 2; ++i) {
        strided.clear();
        MPI_OK(
            MPI_Recv(strided.data(), 1, strided.datatype, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(strided.has(5, 100000));
    }
    strided.clear();
    MPI_OK(PMPI_Recv(strided.ints.data(), 1, strided.datatype, 0, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));
    strided.placed.store();
    CHECK(strided.has(5, 100000));
}

// A persistent send packs what is in memory when it is started.
void persistent_again() {
    current = "a persistent request that is started again";
    Strided strided;
    strided.warm();
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0)
        MPI_OK(MPI_Send_init(strided.data(), 1, strided.datatype, 1, 1, MPI_COMM_WORLD, &request));
    else
        MPI_OK(MPI_Recv_init(strided.data(), 1, strided.datatype, 0, 1, MPI_COMM_WORLD, &request));
    // Until it is started, it is complete, and nothing moves.
    const auto is_inactive = [&] {
        strided.clear();
        MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        return strided.has(0, 0);
    };
    CHECK(is_inactive());
    for (int first = 0; first < 5; ++first) {
        if (rank == 0) strided.fill(first);
        MPI_OK(MPI_Start(&request));
        MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(strided.has(first, 1000));
        CHECK(is_inactive());
    }
    MPI_OK(MPI_Request_free(&request));
}

// Persistent requests are taken over at once: a type that was never used before, too.
void persistent_at_once() {
    current = "a persistent request of a type that is new";
    Strided strided(200);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0)
        MPI_OK(MPI_Ssend_init(strided.data(), 1, strided.datatype, 1, 1, MPI_COMM_WORLD, &request));
    else
        MPI_OK(MPI_Recv_init(strided.data(), 1, strided.datatype, 0, 1, MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Type_free(&strided.datatype));
    strided.fill(rank == 0 ? 8 : -1000);
    MPI_OK(MPI_Start(&request));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(strided.has(8, 200));
    MPI_OK(MPI_Request_free(&request));
}

void replaced() {
    current = "MPI_Sendrecv_replace";
    Strided strided;
    strided.warm();
    MPI_Status status;
    int elements = 0;
    strided.fill(100 * rank);
    MPI_OK(MPI_Sendrecv_replace(strided.data(), 1, strided.datatype, 1 - rank, rank, 1 - rank,
                                1 - rank, MPI_COMM_WORLD, &status));
    CHECK(strided.has(100 * (1 - rank), 1000));
    MPI_OK(MPI_Get_elements(&status, strided.datatype, &elements));
    CHECK(status.MPI_SOURCE == 1 - rank && status.MPI_TAG == 1 - rank && elements == 1000);
    // One way only.
    const int to = rank == 0 ? 1 : MPI_PROC_NULL, from = rank == 0 ? MPI_PROC_NULL : 0;
    strided.fill(7 + rank);
    MPI_OK(MPI_Sendrecv_replace(strided.data(), 1, strided.datatype, to, 0, from, 0, MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE));
    CHECK(strided.has(7, 1000));
}

void no_message() {
    current = "a probe of no process";
    Strided strided;
    strided.warm();
    MPI_Message matched = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_OK(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &matched, &status));
    MPI_OK(MPI_Mrecv(strided.data(), 1, strided.datatype, &matched, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && strided.has(0, 0));
}

void threads_at_once() {
    current = "threads";
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    if (provided != MPI_THREAD_MULTIPLE) return;
    const auto body = [](int tag) {
        for (int i = 0; i < 100; ++i) {
            Strided strided;
            strided.warm();
            MPI_Request request = MPI_REQUEST_NULL;
            if (rank == 0) {
                strided.fill(tag + i);
                MPI_OK(MPI_Isend(strided.data(), 1, strided.datatype, 1, tag, MPI_COMM_WORLD,
                                 &request));
            } else {
                MPI_OK(MPI_Irecv(strided.data(), 1, strided.datatype, 0, tag, MPI_COMM_WORLD,
                                 &request));
            }
            MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK(strided.has(tag + i, 1000));
        }
    };
    std::thread one(body, 1000), other(body, 2000);
    one.join();
    other.join();
}

#if MPI_VERSION >= 4
// The status need not say anything: MPICH 4.0 does not write it.
void both_ways_nonblocking() {
    current = "MPI_Isendrecv";
    Strided sent, received;
    sent.warm();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    const int other = 1 - rank;
    MPI_OK(MPI_Status_set_cancelled(&status, 1));
    sent.fill(100 * rank);
    received.warm();
    MPI_OK(MPI_Isendrecv(sent.data(), 1, sent.datatype, other, rank, received.data(), 1,
                         received.datatype, other, other, MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Type_free(&received.datatype));
    MPI_OK(MPI_Wait(&request, &status));
    CHECK(received.has(100 * other, 1000));
    // One way only, and a message that is shorter than the receive.
    Strided one;
    one.warm();
    if (rank == 0)
        MPI_OK(MPI_Isendrecv(sent.data(), 1, sent.datatype, 1, 3, one.data(), 1, one.datatype,
                             MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request));
    else
        MPI_OK(MPI_Isendrecv(sent.data(), 1, sent.datatype, MPI_PROC_NULL, 3, one.data(), 1,
                             one.datatype, 0, 3, MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(one.has(0, rank == 0 ? 0 : 1000));
    one.clear();
    MPI_OK(MPI_Isendrecv(sent.data(), 100, MPI_INT, other, 4, one.data(), 1, one.datatype, other, 4,
                         MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    one.placed.fetch();
    for (std::size_t i = 0; i < one.ints.size(); ++i) {
        const bool arrived = i % 3 == 0 && i < 300;
        const int number = i / 3 % 3 == 0 ? 100 * other + static_cast<int>(i / 3) : -1;
        CHECK(one.ints[i] == (arrived ? number : -1));
    }
}

void replaced_nonblocking() {
    current = "MPI_Isendrecv_replace";
    Strided strided;
    strided.warm();
    MPI_Request request = MPI_REQUEST_NULL;
    const int other = 1 - rank;
    strided.fill(100 * rank);
    MPI_OK(MPI_Isendrecv_replace(strided.data(), 1, strided.datatype, other, rank, other, other,
                                 MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(strided.has(100 * other, 1000));
    const int to = rank == 0 ? 1 : MPI_PROC_NULL, from = rank == 0 ? MPI_PROC_NULL : 0;
    strided.fill(7 + rank);
    MPI_OK(MPI_Isendrecv_replace(strided.data(), 1, strided.datatype, to, 0, from, 0,
                                 MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(strided.has(7, 1000));
}
#endif

} // namespace

void named_cases() {
    many_types();
    duplicated_before_use();
    short_message();
    large_message();
    errors_are_those_of_mpi();
    cancelled_receive();
    freed_while_under_way();
    persistent_again();
    persistent_at_once();
    request_cases();
    replaced();
    no_message();
    threads_at_once();
}

void nonblocking_both_ways() {
#if MPI_VERSION >= 4
    both_ways_nonblocking();
    replaced_nonblocking();
#endif
}

} // namespace ucdtest
