#include "mpi/exchange.hpp"
#include "mpi/strided.hpp"

#include <vector>

namespace ucdtest {
namespace {

// Starts of a buffered send while its messages before are not received: Open MPI gives it another
// request then, and the old one to whoever asks next.
void buffered_send_started_again() {
    current = "MPI_Bsend_init, started again";
    constexpr int messages = 6, elements = 4000; // more than Open MPI sends at once
    Strided strided(elements);
    strided.warm();
    if (rank == 0) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_OK(MPI_Bsend_init(strided.data(), 1, strided.datatype, 1, 0, MPI_COMM_WORLD, &request));
        for (int i = 0; i < messages; ++i) {
            strided.fill(i);
            MPI_OK(i % 2 == 0 ? MPI_Start(&request) : MPI_Startall(1, &request));
            MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        MPI_OK(MPI_Request_free(&request));
        // If one of these is taken for the send above, it packs what is no longer there.
        strided.fill(-5);
        std::vector<MPI_Request> others(64);
        std::vector<int> numbers(others.size(), 9);
        for (std::size_t i = 0; i < others.size(); ++i)
            MPI_OK(MPI_Send_init(&numbers[i], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &others[i]));
        MPI_OK(MPI_Startall(static_cast<int>(others.size()), others.data()));
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
        MPI_OK(MPI_Waitall(static_cast<int>(others.size()), others.data(), MPI_STATUSES_IGNORE));
        for (MPI_Request &other : others) MPI_OK(MPI_Request_free(&other));
        return;
    }
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < messages; ++i) {
        strided.clear();
        MPI_OK(
            MPI_Recv(strided.data(), 1, strided.datatype, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(strided.has(i, elements));
    }
    for (int i = 0, number = 0; i < 64; ++i) {
        MPI_OK(MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(number == 9);
    }
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
// Once such a function says that a request is complete, its data is there.
void looked_at() {
    enum { all, any, some, ways };
    Strided strided, other(900);
    for (int way = 0; way < ways; ++way) {
        current = "MPI_Request_get_status_all, any, some";
        for (Strided *each : {&strided, &other}) each->warm();
        if (rank == 0) {
            strided.fill(way);
            MPI_OK(MPI_Send(strided.data(), 1, strided.datatype, 1, way, MPI_COMM_WORLD));
            MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
            if (way != all)
                MPI_OK(MPI_Send(other.data(), 1, other.datatype, 1, way + ways, MPI_COMM_WORLD));
            continue;
        }
        strided.clear();
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_OK(
            MPI_Irecv(strided.data(), 1, strided.datatype, 0, way, MPI_COMM_WORLD, &requests[1]));
        if (way != all)
            MPI_OK(MPI_Irecv(other.data(), 1, other.datatype, 0, way + ways, MPI_COMM_WORLD,
                             &requests[0]));
        int flag = 0, index = 1, indices[2] = {1, 1};
        while (flag == 0)
            MPI_OK(way == all ? MPI_Request_get_status_all(2, requests, &flag, MPI_STATUSES_IGNORE)
                   : way == any
                       ? MPI_Request_get_status_any(2, requests, &index, &flag, MPI_STATUS_IGNORE)
                       : MPI_Request_get_status_some(2, requests, &flag, indices,
                                                     MPI_STATUSES_IGNORE));
        CHECK(index == 1 && indices[0] == 1 && flag == 1);
        CHECK(strided.has(way, 1000));
        // It was delivered: what the user writes now stays.
        strided.fill(50);
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
        MPI_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(strided.has(50, 1000));
    }
}
#endif

} // namespace

void request_cases() {
    buffered_send_started_again();
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    looked_at();
#endif
}

} // namespace ucdtest
