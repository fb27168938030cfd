#include "mpi/exchange.hpp"
#include "mpi/strided.hpp"

#include <deque>
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

// Both sides at once, with data of other lengths and contents at each start. One receive gets whole
// messages and shorter ones in turns.
void started_many_times() {
    current = "persistent requests, started many times";
    constexpr int starts = 60;
    constexpr int lengths[] = {1000, 333, 2500};
    std::deque<Strided> from, to;
    std::vector<MPI_Request> requests(7, MPI_REQUEST_NULL);
    for (const int length : lengths) {
        from.emplace_back(length);
        to.emplace_back(length);
    }
    Strided &shorter = from.emplace_back(400);
    const int peer = 1 - rank;
    MPI_OK(MPI_Recv_init(to[0].data(), 1, to[0].datatype, peer, 0, MPI_COMM_WORLD, &requests[0]));
    MPI_OK(MPI_Recv_init(to[1].data(), 1, to[1].datatype, peer, 1, MPI_COMM_WORLD, &requests[1]));
    MPI_OK(MPI_Recv_init(to[2].data(), 1, to[2].datatype, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
                         &requests[2]));
    MPI_OK(
        MPI_Send_init(from[1].data(), 1, from[1].datatype, peer, 1, MPI_COMM_WORLD, &requests[3]));
    MPI_OK(
        MPI_Ssend_init(from[2].data(), 1, from[2].datatype, peer, 2, MPI_COMM_WORLD, &requests[4]));
    // One of these two is started.
    MPI_OK(
        MPI_Send_init(from[0].data(), 1, from[0].datatype, peer, 0, MPI_COMM_WORLD, &requests[5]));
    MPI_OK(
        MPI_Send_init(shorter.data(), 1, shorter.datatype, peer, 0, MPI_COMM_WORLD, &requests[6]));
    for (int i = 0; i < starts; ++i) {
        const bool is_whole = i % 3 != 1;
        for (Strided &each : from) each.fill(100 * i + rank);
        for (Strided &each : to) each.clear();
        MPI_Request last = requests[is_whole ? 5 : 6];
        MPI_OK(MPI_Startall(5, requests.data()));
        MPI_OK(MPI_Start(&last));
        if (i % 2 == 0) {
            MPI_OK(MPI_Waitall(5, requests.data(), MPI_STATUSES_IGNORE));
        } else {
            for (int left = 5, done = 0, indices[5]; left > 0; left -= done)
                MPI_OK(MPI_Waitsome(5, requests.data(), &done, indices, MPI_STATUSES_IGNORE));
        }
        MPI_OK(MPI_Wait(&last, MPI_STATUS_IGNORE));
        requests[is_whole ? 5 : 6] = last;
        CHECK(to[0].has(100 * i + peer, is_whole ? 1000 : 400));
        CHECK(to[1].has(100 * i + peer, 333));
        CHECK(to[2].has(100 * i + peer, 2500));
    }
    for (MPI_Request &request : requests) MPI_OK(MPI_Request_free(&request));
}

// Requests that are freed before they are complete, in a start that is not their first: their last
// messages arrive, and the types may be freed before.
void freed_while_active() {
    current = "persistent requests, freed while they are active";
    constexpr int starts = 4, elements = 50000;
    Strided strided(elements);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0)
        MPI_OK(MPI_Send_init(strided.data(), 1, strided.datatype, 1, 0, MPI_COMM_WORLD, &request));
    else
        MPI_OK(MPI_Recv_init(strided.data(), 1, strided.datatype, 0, 0, MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Type_free(&strided.datatype));
    for (int i = 0; i < starts; ++i) {
        if (rank == 0) strided.fill(i);
        MPI_OK(MPI_Start(&request));
        if (i + 1 < starts) MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    MPI_OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Request none = MPI_REQUEST_NULL;
    int flag = 0;
    while (rank == 1 && !strided.has(starts - 1, elements)) {
        MPI_OK(MPI_Iprobe(0, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        MPI_OK(MPI_Test(&none, &flag, MPI_STATUS_IGNORE));
    }
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
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
    started_many_times();
    freed_while_active();
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    looked_at();
#endif
}

} // namespace ucdtest
