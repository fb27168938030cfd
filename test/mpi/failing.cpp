// Run by two processes with libucd-mpi-preload: its packs and unpacks in device memory fail, or
// there is no memory for packed messages. Each call returns MPI_ERR_OTHER and calls the error
// handler once. Data in host memory is left to MPI if its pack fails. Nor is there memory for long
// lists of requests: the call returns MPI_ERR_NO_MEM, and all is as it was.

#include "mpi/failing_calls.hpp"
#include "mpi/placed.hpp"
#include "mpi/processes.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

std::size_t refused = SIZE_MAX; // allocations of so many bytes and more fail

} // namespace

// The C library's malloc is this one, also for all libraries.
extern "C" void *__libc_malloc(std::size_t bytes) noexcept;
extern "C" void *malloc(std::size_t bytes) noexcept {
    return bytes < refused ? __libc_malloc(bytes) : nullptr;
}

namespace ucdtest {
namespace {

int calls_of_handler = 0;

void on_error(MPI_Comm *, int *, ...) {
    ++calls_of_handler;
}

void fails(const char *what, int rc, int expected = MPI_ERR_OTHER) {
    current = what;
    failing = {};
    int error_class = MPI_SUCCESS;
    MPI_Error_class(rc, &error_class);
    CHECK(error_class == expected);
    CHECK(std::exchange(calls_of_handler, 0) == 1);
}

// Every second int, in device memory.
struct Column {
    explicit Column(int n, int blocks = 1, const char *other_device = nullptr)
        : ints(static_cast<std::size_t>(2 * n * blocks), -1),
          placed(ints.data(), ints.size() * sizeof(int), true, other_device) {
        MPI_OK(MPI_Type_vector(n, 1, 2, MPI_INT, &datatype));
        MPI_OK(
            MPI_Type_create_resized(datatype, 0, MPI_Aint{2} * n * MPI_Aint{sizeof(int)}, &item));
        MPI_OK(MPI_Type_commit(&item));
    }
    Column(const Column &) = delete;
    Column &operator=(const Column &) = delete;
    ~Column() {
        MPI_Type_free(&datatype);
        MPI_Type_free(&item);
    }
    void *data() const { return placed.data(); }

    std::vector<int> ints;
    Placed placed;
    MPI_Datatype datatype = MPI_DATATYPE_NULL, item = MPI_DATATYPE_NULL;
};

constexpr Failing no_packs = {.packs = true}, no_unpacks = {.unpacks = true},
                  no_memory = {.memory = true};

void sends(const Column &column, Failing how) {
    using Send = int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    using Isend = int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    for (const auto &[name, send] :
         std::vector<std::pair<const char *, Send>>{{"MPI_Send", MPI_Send},
                                                    {"MPI_Ssend", MPI_Ssend},
                                                    {"MPI_Bsend", MPI_Bsend},
                                                    {"MPI_Rsend", MPI_Rsend}}) {
        failing = how;
        fails(name, send(column.data(), 1, column.item, rank, 0, MPI_COMM_WORLD));
    }
    MPI_Request request = MPI_REQUEST_NULL;
    for (const auto &[name, isend] :
         std::vector<std::pair<const char *, Isend>>{{"MPI_Isend", MPI_Isend},
                                                     {"MPI_Issend", MPI_Issend},
                                                     {"MPI_Ibsend", MPI_Ibsend},
                                                     {"MPI_Irsend", MPI_Irsend}}) {
        failing = how;
        fails(name, isend(column.data(), 1, column.item, rank, 0, MPI_COMM_WORLD, &request));
        CHECK(request == MPI_REQUEST_NULL);
    }
}

void both_ways(const Column &column, Failing how) {
    int other = 0;
    failing = how;
    fails("MPI_Sendrecv, sent", MPI_Sendrecv(column.data(), 1, column.item, rank, 0, &other, 1,
                                             MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    failing = how;
    fails("MPI_Sendrecv_replace", MPI_Sendrecv_replace(column.data(), 1, column.item, rank, 0, rank,
                                                       0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
#if MPI_VERSION >= 4
    MPI_Request request = MPI_REQUEST_NULL;
    failing = how;
    fails("MPI_Isendrecv, sent", MPI_Isendrecv(column.data(), 1, column.item, rank, 0, &other, 1,
                                               MPI_INT, rank, 0, MPI_COMM_WORLD, &request));
    failing = how;
    fails("MPI_Isendrecv, received", MPI_Isendrecv(&other, 1, MPI_INT, rank, 0, column.data(), 1,
                                                   column.item, rank, 0, MPI_COMM_WORLD, &request));
    failing = how;
    fails("MPI_Isendrecv_replace", MPI_Isendrecv_replace(column.data(), 1, column.item, rank, 0,
                                                         rank, 0, MPI_COMM_WORLD, &request));
    CHECK(request == MPI_REQUEST_NULL);
#endif
}

void packs(const Column &column) {
    std::vector<int> packed(column.ints.size());
    const int size = static_cast<int>(packed.size() * sizeof(int));
    int position = 0;
    failing = no_packs;
    fails("MPI_Pack",
          MPI_Pack(column.data(), 1, column.item, packed.data(), size, &position, MPI_COMM_WORLD));
    failing = no_unpacks;
    fails("MPI_Unpack", MPI_Unpack(packed.data(), size, &position, column.data(), 1, column.item,
                                   MPI_COMM_WORLD));
    CHECK(position == 0);
}

// The messages are received, but not unpacked.
void receives(const Column &column) {
    const std::vector<int> sent(100, 5);
    MPI_Request requests[2];
    int flag = 0;
    const auto send = [&](int tag) {
        MPI_OK(MPI_Send(sent.data(), 100, MPI_INT, rank, tag, MPI_COMM_WORLD));
    };
    const auto start = [&](int tag) {
        MPI_OK(MPI_Irecv(column.data(), 1, column.item, rank, tag, MPI_COMM_WORLD, &requests[tag]));
        send(tag);
    };
    send(0);
    failing = no_unpacks;
    fails("MPI_Recv",
          MPI_Recv(column.data(), 1, column.item, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    start(0);
    failing = no_unpacks;
    fails("MPI_Wait", MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    start(0);
    start(1);
    failing = no_unpacks;
    fails("MPI_Waitall", MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    start(0);
    failing = no_unpacks;
    fails("MPI_Request_get_status", MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(flag != 0);
    MPI_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    int one = 0;
    failing = no_unpacks;
    fails("MPI_Sendrecv, received",
          MPI_Sendrecv(&one, 1, MPI_INT, rank, 0, column.data(), 1, column.item, rank, 0,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

void persistent_requests(const Column &column) {
    MPI_Request requests[2];
    MPI_OK(MPI_Send_init(column.data(), 1, column.item, rank, 0, MPI_COMM_WORLD, &requests[0]));
    MPI_OK(MPI_Recv_init(column.data(), 1, column.item, rank, 0, MPI_COMM_WORLD, &requests[1]));
    for (int start = 0; start < 2; ++start) {
        failing = no_packs;
        fails("MPI_Start", MPI_Start(&requests[0]));
        MPI_OK(MPI_Start(&requests[1]));
        MPI_OK(MPI_Start(&requests[0]));
        MPI_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        failing = no_unpacks;
        fails("MPI_Wait of a start", MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    }
    for (MPI_Request &request : requests) MPI_OK(MPI_Request_free(&request));
}

// On both processes, so that none waits for the other.
void collective_calls(int n, Failing before, Failing after) {
    const Column from(n, 2), to(n, 2);
    MPI_Request request = MPI_REQUEST_NULL;
    for (const Failing how : {before, after}) {
        failing = how;
        fails("MPI_Alltoall",
              MPI_Alltoall(from.data(), 1, from.item, to.data(), 1, to.item, MPI_COMM_WORLD));
    }
    failing = before;
    fails("MPI_Ialltoall", MPI_Ialltoall(from.data(), 1, from.item, to.data(), 1, to.item,
                                         MPI_COMM_WORLD, &request));
    CHECK(request == MPI_REQUEST_NULL);
}

// The same data in host memory is left to MPI.
void in_host_memory(int n) {
    const Column column(n, 2);
    const MPI_Datatype item = column.item;
    std::vector<int> sent(column.ints.size());
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = 1000000 * rank + static_cast<int>(i);
    const auto arrive = [&](const char *what, auto call) {
        current = what;
        std::vector<int> received(sent.size(), -1);
        failing = no_packs;
        MPI_OK(call(received.data()));
        failing = {};
        CHECK(calls_of_handler == 0);
        for (int i = 0; i < 4 * n; ++i) {
            const int from = i / (2 * n), first = 1000000 * from + 2 * n * (rank - from);
            CHECK(received[static_cast<std::size_t>(i)] == (i % 2 == 0 ? first + i : -1));
        }
    };
    MPI_Request requests[2];
    const auto completed = [&](int rc) {
        return rc == MPI_SUCCESS ? MPI_Wait(&requests[0], MPI_STATUS_IGNORE) : rc;
    };
    arrive("MPI_Alltoall in host memory", [&](int *received) {
        return MPI_Alltoall(sent.data(), 1, item, received, 1, item, MPI_COMM_WORLD);
    });
    arrive("MPI_Ialltoall in host memory", [&](int *received) {
        return completed(
            MPI_Ialltoall(sent.data(), 1, item, received, 1, item, MPI_COMM_WORLD, &requests[0]));
    });
    arrive("messages in host memory", [&](int *received) {
        for (int other = 0; other < 2; ++other)
            MPI_OK(MPI_Irecv(received + 2 * n * other, 1, item, other, 0, MPI_COMM_WORLD,
                             &requests[other]));
        MPI_OK(MPI_Send(sent.data(), 1, item, 0, 0, MPI_COMM_WORLD));
        MPI_OK(MPI_Send(sent.data() + 2 * n, 1, item, 1, 0, MPI_COMM_WORLD));
        return MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    });
}

// Of a size that no block is kept of.
void without_memory(const Column &column) {
    MPI_Request request = MPI_REQUEST_NULL;
    int other = 0;
    sends(column, no_memory);
    both_ways(column, no_memory);
    failing = no_memory;
    fails("MPI_Recv",
          MPI_Recv(column.data(), 1, column.item, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    failing = no_memory;
    fails("MPI_Irecv", MPI_Irecv(column.data(), 1, column.item, rank, 0, MPI_COMM_WORLD, &request));
    failing = no_memory;
    fails("MPI_Send_init",
          MPI_Send_init(column.data(), 1, column.item, rank, 0, MPI_COMM_WORLD, &request));
    failing = no_memory;
    fails("MPI_Recv_init",
          MPI_Recv_init(column.data(), 1, column.item, rank, 0, MPI_COMM_WORLD, &request));
    failing = no_memory;
    fails("MPI_Sendrecv, received",
          MPI_Sendrecv(&other, 1, MPI_INT, rank, 0, column.data(), 1, column.item, rank, 0,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL);
}

// Nothing was completed, so that the request can be completed later.
void completed_without_memory() {
    constexpr int n = 100, others = 1000; // requests that there are not
    const Column column(n);
    std::vector<int> sent(n, rank);
    std::vector<MPI_Request> requests(others, MPI_REQUEST_NULL);
    const auto all = [&] { return MPI_Waitall(others, requests.data(), MPI_STATUSES_IGNORE); };
    int index = 0, number = 0, flag = 0;
    std::vector<int> indices(others);
    const auto refusing = [](const char *what, auto call) {
        refused = others * sizeof(void *);
        const int rc = call();
        refused = SIZE_MAX;
        fails(what, rc, MPI_ERR_NO_MEM);
    };
    MPI_OK(MPI_Irecv(column.data(), 1, column.item, rank, 0, MPI_COMM_WORLD, &requests[7]));
    MPI_OK(MPI_Send(sent.data(), n, MPI_INT, rank, 0, MPI_COMM_WORLD));
    refusing("MPI_Waitall without memory", all);
    refusing("MPI_Testall without memory",
             [&] { return MPI_Testall(others, requests.data(), &flag, MPI_STATUSES_IGNORE); });
    refusing("MPI_Waitany without memory",
             [&] { return MPI_Waitany(others, requests.data(), &index, MPI_STATUS_IGNORE); });
    refusing("MPI_Waitsome without memory", [&] {
        return MPI_Waitsome(others, requests.data(), &number, indices.data(), MPI_STATUSES_IGNORE);
    });
    MPI_OK(all());
    column.placed.fetch();
    for (std::size_t i = 0; i < n; ++i) CHECK(column.ints[2 * i] == rank);
}

// Each has packed memory of its own, which is kept for its next message.
void devices_in_turns() {
    current = "two devices in turns";
    constexpr int n = 600000; // more than 2 MiB, of which smaller blocks are halves
    const Column first(n), second(n, 1, "hostgpu:1");
    const auto send_both = [&] {
        std::vector<int> received(n);
        for (const Column *column : {&first, &second})
            MPI_OK(MPI_Sendrecv(column->data(), 1, column->item, rank, 0, received.data(), n,
                                MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    };
    allocated.clear();
    send_both();
    const std::vector<std::string> both = {"hostgpu:0", "hostgpu:1"};
    CHECK(allocated == both);
    send_both();
    CHECK(allocated == both);
}

} // namespace
} // namespace ucdtest

int main(int argc, char **argv) {
    using namespace ucdtest;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_OK(MPI_Comm_create_errhandler(on_error, &handler));
    MPI_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    MPI_OK(MPI_Errhandler_free(&handler));
    {
        const Column column(100), large(2000000);
        sends(column, no_packs);
        both_ways(column, no_packs);
        packs(column);
        receives(column);
        persistent_requests(column);
        collective_calls(100, no_packs, no_unpacks);
        in_host_memory(1000);
        completed_without_memory();
        devices_in_turns();
        without_memory(large);
        collective_calls(2000000, no_memory, no_memory);
    }
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) std::puts("all failures are told");
    MPI_Finalize();
}
