// Run by three processes with libucd-mpi-preload, and with devices that are threads.
//
//     launches            how many kernels calls of MPI launch for data in device memory
//     launches ways       calls of which the statistics say which way their data went

#include "mpi/placed.hpp"
#include "mpi/processes.hpp"

#include <cstdio>
#include <deque>
#include <dlfcn.h>
#include <vector>

namespace ucdtest {
namespace {

constexpr int ints = 100, messages = 4;

int kernels_launched() {
    static const auto count =
        reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "ucd_test_kernels_launched"));
    CHECK(count != nullptr);
    return count();
}

// About every third int: copy engines move what is more regular.
int place(int i) {
    return 3 * i + i * i / 7 % 2;
}

class Column {
public:
    explicit Column(bool on_device = true)
        : memory_(3 * ints, -1), placed_(memory_.data(), memory_.size() * sizeof(int), on_device) {
        std::vector<int> places(ints);
        for (int i = 0; i < ints; ++i) places[static_cast<std::size_t>(i)] = place(i);
        MPI_OK(MPI_Type_create_indexed_block(ints, 1, places.data(), MPI_INT, &datatype));
        MPI_OK(MPI_Type_commit(&datatype));
    }
    Column(const Column &) = delete;
    Column &operator=(const Column &) = delete;
    ~Column() { MPI_Type_free(&datatype); }

    void *data() const { return placed_.data(); }
    void fill(int first) {
        write(first, ints);
        placed_.store();
    }
    // The first `n` ints are as `fill` writes them, and nothing else was written. Clears them.
    bool had(int first, int n = ints) {
        placed_.fetch();
        const std::vector<int> found = memory_;
        clear();
        write(first, n);
        const bool as_expected = found == memory_;
        clear();
        placed_.store();
        return as_expected;
    }

    MPI_Datatype datatype = MPI_DATATYPE_NULL;

private:
    void clear() { memory_.assign(memory_.size(), -1); }
    void write(int first, int n) {
        for (int i = 0; i < n; ++i) memory_[static_cast<std::size_t>(place(i))] = first + i;
    }

    std::vector<int> memory_;
    Placed placed_;
};

void send(int first, int n, int tag) {
    std::vector<int> sent(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = first + static_cast<int>(i);
    MPI_OK(MPI_Send(sent.data(), n, MPI_INT, rank, tag, MPI_COMM_WORLD));
}

using Requests = std::vector<MPI_Request>;
// Returns how many calls completed requests: each may launch a kernel.
using Complete = int (*)(Requests &);

struct Completing {
    const char *name;
    Complete complete;
};
const Completing completing[] = {
    {"MPI_Waitall",
     [](Requests &requests) {
         MPI_OK(
             MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
         return 1;
     }},
    {"MPI_Testall",
     [](Requests &requests) {
         for (int flag = 0; flag == 0;)
             MPI_OK(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &flag,
                                MPI_STATUSES_IGNORE));
         return 1;
     }},
    {"MPI_Waitsome",
     [](Requests &requests) {
         std::vector<int> indices(requests.size());
         int calls = 0;
         for (std::size_t completed = 0; completed < requests.size(); ++calls) {
             int done = 0;
             MPI_OK(MPI_Waitsome(static_cast<int>(requests.size()), requests.data(), &done,
                                 indices.data(), MPI_STATUSES_IGNORE));
             CHECK(done > 0);
             completed += static_cast<std::size_t>(done);
         }
         return calls;
     }},
};

// Checks how many kernels a call launches; not the first time, since plans are made then.
template <class Call>
void launches(int expected, Call call) {
    (void)kernels_launched();
    call();
    const int launched = kernels_launched();
    if (launched == expected) return;
    std::fprintf(stderr, "%s: %d kernels, not %d\n", current.c_str(), launched, expected);
    CHECK(launched == expected);
}

// Each call unpacks all that it completes by one kernel.
void launches_of(const Completing &way, Requests &requests) {
    (void)kernels_launched();
    const int calls = way.complete(requests);
    const int launched = kernels_launched();
    if (launched < 1 || launched > calls)
        std::fprintf(stderr, "%s: %d kernels in %d calls\n", current.c_str(), launched, calls);
    CHECK(launched >= 1 && launched <= calls);
}

void several_messages(const Completing &way) {
    current = std::string(way.name) + " of several messages";
    std::deque<Column> columns(messages);
    Requests requests(messages);
    for (int i = 0; i < messages; ++i)
        MPI_OK(MPI_Irecv(columns[static_cast<std::size_t>(i)].data(), 1, columns.front().datatype,
                         rank, i, MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]));
    for (int i = 0; i < messages; ++i) send(10 * i, ints, i);
    launches_of(way, requests);
    for (int i = 0; i < messages; ++i) {
        CHECK(requests[static_cast<std::size_t>(i)] == MPI_REQUEST_NULL);
        CHECK(columns[static_cast<std::size_t>(i)].had(10 * i));
    }
}

void several_starts(const Completing &way) {
    current = std::string(way.name) + " of several persistent requests";
    std::deque<Column> columns(messages);
    Requests requests(messages);
    for (int i = 0; i < messages; ++i)
        MPI_OK(MPI_Recv_init(columns[static_cast<std::size_t>(i)].data(), 1,
                             columns.front().datatype, rank, i, MPI_COMM_WORLD,
                             &requests[static_cast<std::size_t>(i)]));
    for (int start = 0; start < 3; ++start) {
        MPI_OK(MPI_Startall(messages, requests.data()));
        for (int i = 0; i < messages; ++i) send(start + i, ints, i);
        launches_of(way, requests);
        for (int i = 0; i < messages; ++i)
            CHECK(columns[static_cast<std::size_t>(i)].had(start + i));
    }
    for (MPI_Request &request : requests) MPI_OK(MPI_Request_free(&request));
}

// One that is whole, a short one, one of no data, a cancelled one, one in host memory, and a send.
void different_messages(const Completing &way) {
    current = std::string(way.name) + " of different messages";
    Column whole, less, empty, cancelled, on_host(false), sent;
    Requests requests(6);
    Column *const columns[] = {&whole, &less, &empty, &cancelled, &on_host};
    for (int i = 0; i < 5; ++i)
        MPI_OK(MPI_Irecv(columns[i]->data(), 1, columns[i]->datatype, rank, i, MPI_COMM_WORLD,
                         &requests[static_cast<std::size_t>(i)]));
    sent.fill(7);
    MPI_OK(MPI_Isend(sent.data(), 1, sent.datatype, rank, 0, MPI_COMM_WORLD, &requests[5]));
    send(20, ints / 2, 1);
    send(0, 0, 2);
    MPI_OK(MPI_Cancel(&requests[3]));
    send(40, ints, 4);
    launches_of(way, requests);
    CHECK(whole.had(7) && less.had(20, ints / 2) && empty.had(0, 0) && cancelled.had(0, 0));
    CHECK(on_host.had(40) && sent.had(7));
}

void single_messages() {
    current = "one message";
    Column from, to;
    MPI_Request request = MPI_REQUEST_NULL;
    for (int round = 0; round < 2; ++round) {
        MPI_OK(MPI_Irecv(to.data(), 1, to.datatype, rank, 0, MPI_COMM_WORLD, &request));
        from.fill(round);
        launches(1,
                 [&] { MPI_OK(MPI_Send(from.data(), 1, from.datatype, rank, 0, MPI_COMM_WORLD)); });
        launches(1, [&] { MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); });
        CHECK(to.had(round));
    }
}

// Each process packs what it sends to all others by one launch, and unpacks what it receives by
// one.
void collective_calls() {
    current = "MPI_Alltoallw";
    int processes = 0;
    MPI_OK(MPI_Comm_size(MPI_COMM_WORLD, &processes));
    const auto n = static_cast<std::size_t>(processes);
    std::vector<int> memory(2 * n * 3 * ints, -1);
    const Placed placed(memory.data(), memory.size() * sizeof(int), true);
    const Column column;
    std::vector<int> counts(n, 1), displs(n);
    std::vector<MPI_Datatype> types(n, column.datatype);
    for (std::size_t i = 0; i < n; ++i) displs[i] = static_cast<int>(i * 3 * ints * sizeof(int));
    std::byte *const received = placed.data() + n * 3 * ints * sizeof(int);
    const auto exchange = [&] {
        MPI_OK(MPI_Alltoallw(placed.data(), counts.data(), displs.data(), types.data(), received,
                             counts.data(), displs.data(), types.data(), MPI_COMM_WORLD));
    };
    for (std::size_t i = 0; i < n; ++i) memory[i * 3 * ints] = rank;
    placed.store();
    for (int round = 0; round < 2; ++round) launches(2, exchange);
    placed.fetch();
    for (std::size_t i = 0; i < n; ++i) CHECK(memory[(n + i) * 3 * ints] == static_cast<int>(i));
    current = "MPI_Alltoallw, of no data to the process itself";
    MPI_Datatype nothing = MPI_DATATYPE_NULL;
    MPI_OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
    MPI_OK(MPI_Type_commit(&nothing));
    types[static_cast<std::size_t>(rank)] = nothing;
    for (std::size_t i = 0; i < n; ++i) memory[i * 3 * ints] = 10 + rank;
    placed.store();
    launches(2, exchange);
    placed.fetch();
    for (int i = 0; i < processes; ++i)
        CHECK(memory[(n + static_cast<std::size_t>(i)) * 3 * ints] == (i == rank ? i : 10 + i));
    MPI_OK(MPI_Type_free(&nothing));
}

// The first block lies one item behind the buffer, which is in no memory of the device.
void buffers_before_the_data() {
    current = "MPI_Allgatherv to a buffer before the device's memory";
    int processes = 0;
    MPI_OK(MPI_Comm_size(MPI_COMM_WORLD, &processes));
    const auto n = static_cast<std::size_t>(processes);
    Column from;
    from.fill(10 * rank);
    MPI_Datatype item = MPI_DATATYPE_NULL;
    constexpr MPI_Aint extent = MPI_Aint{3} * ints * MPI_Aint{sizeof(int)};
    MPI_OK(MPI_Type_create_resized(from.datatype, 0, extent, &item));
    MPI_OK(MPI_Type_commit(&item));
    std::vector<int> memory(n * 3 * ints, -1), counts(n, 1), displs(n);
    const Placed placed(memory.data(), memory.size() * sizeof(int), true);
    for (std::size_t i = 0; i < n; ++i) displs[i] = static_cast<int>(i) + 1;
    launches(2, [&] {
        MPI_OK(MPI_Allgatherv(from.data(), 1, from.datatype, placed.data() - extent, counts.data(),
                              displs.data(), item, MPI_COMM_WORLD));
    });
    placed.fetch();
    for (std::size_t i = 0; i < n; ++i)
        for (int k = 0; k < ints; ++k)
            CHECK(memory[i * 3 * ints + static_cast<std::size_t>(place(k))] ==
                  10 * static_cast<int>(i) + k);
    MPI_OK(MPI_Type_free(&item));
}

// Between device memory and the host's, both ways round; and contiguous data.
void packing() {
    current = "MPI_Pack and MPI_Unpack";
    Column there, here(false);
    std::vector<int> memory(ints);
    const Placed packed(memory.data(), memory.size() * sizeof(int), true);
    constexpr int size = ints * int{sizeof(int)};
    int position = 0;
    here.fill(3);
    MPI_OK(MPI_Pack(here.data(), 1, here.datatype, packed.data(), size, &position, MPI_COMM_SELF));
    position = 0;
    MPI_OK(
        MPI_Unpack(packed.data(), size, &position, there.data(), 1, there.datatype, MPI_COMM_SELF));
    CHECK(position == size && there.had(3));
    CHECK(here.had(3));
    position = 0;
    MPI_OK(
        MPI_Unpack(packed.data(), size, &position, here.data(), 1, here.datatype, MPI_COMM_SELF));
    CHECK(here.had(3));
    std::vector<int> contiguous(ints);
    position = 0;
    MPI_OK(
        MPI_Pack(packed.data(), ints, MPI_INT, contiguous.data(), size, &position, MPI_COMM_SELF));
    CHECK(contiguous[0] == 3 && contiguous[ints - 1] == ints + 2);
    // Of host memory without gaps, which is MPI's otherwise.
    contiguous[0] = 4;
    position = 0;
    MPI_OK(
        MPI_Pack(contiguous.data(), ints, MPI_INT, packed.data(), size, &position, MPI_COMM_SELF));
    position = 0;
    std::vector<int> unpacked(ints);
    MPI_OK(
        MPI_Unpack(packed.data(), size, &position, unpacked.data(), ints, MPI_INT, MPI_COMM_SELF));
    CHECK(unpacked == contiguous);
}

// One item without gaps, of which several would have some.
void single_item(const Placed &from, const Placed &to) {
    constexpr int length = 1 << 13;
    MPI_Datatype block = MPI_DATATYPE_NULL, item = MPI_DATATYPE_NULL;
    MPI_OK(MPI_Type_contiguous(length, MPI_DOUBLE, &block));
    MPI_OK(MPI_Type_create_resized(block, 0, MPI_Aint{16} * length, &item));
    MPI_OK(MPI_Type_commit(&item));
    MPI_OK(MPI_Sendrecv(from.data(), 1, item, rank, 0, to.data(), 1, item, rank, 0, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
    MPI_OK(MPI_Type_free(&block));
    MPI_OK(MPI_Type_free(&item));
}

// A message without gaps that MPI copies itself, from a buffer that does not tell of the device.
void copied_by_mpi(const Placed &placed) {
    const int length = 1 << 13;
    MPI_Aint address = 0;
    MPI_Datatype absolute = MPI_DATATYPE_NULL;
    MPI_OK(MPI_Get_address(placed.data(), &address));
    MPI_OK(MPI_Type_create_hindexed(1, &length, &address, MPI_DOUBLE, &absolute));
    MPI_OK(MPI_Type_commit(&absolute));
    MPI_OK(MPI_Sendrecv_replace(MPI_BOTTOM, 1, absolute, rank, 0, rank, 0, MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE));
    MPI_OK(MPI_Type_free(&absolute));
}

// Of two sizes between which the table for device memory changes its way, and a collective call of
// the smaller one for each process.
void ways() {
    int processes = 0;
    MPI_OK(MPI_Comm_size(MPI_COMM_WORLD, &processes));
    const int smaller = 1 << 10, larger = 1 << 13;
    std::vector<double> memory(static_cast<std::size_t>(4 * larger * processes), 1.0);
    const Placed from(memory.data(), memory.size() * sizeof(double), true),
        to(memory.data(), memory.size() * sizeof(double), true);
    for (const int n : {smaller, larger}) {
        MPI_Datatype column = MPI_DATATYPE_NULL, item = MPI_DATATYPE_NULL;
        MPI_OK(MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &column));
        MPI_OK(MPI_Type_create_resized(column, 0, MPI_Aint{16} * n, &item));
        MPI_OK(MPI_Type_commit(&item));
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_OK(MPI_Irecv(to.data(), 1, item, rank, 0, MPI_COMM_WORLD, &request));
        MPI_OK(MPI_Send(from.data(), 1, item, rank, 0, MPI_COMM_WORLD));
        MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (n == smaller)
            MPI_OK(MPI_Alltoall(from.data(), 1, item, to.data(), 1, item, MPI_COMM_WORLD));
        MPI_OK(MPI_Type_free(&column));
        MPI_OK(MPI_Type_free(&item));
    }
    single_item(from, to);
    copied_by_mpi(from);
    // Host memory that is neither on the heap nor on the stack: the driver is asked about it.
    static int sent = 1, received = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_OK(MPI_Isend(&sent, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Recv(&received, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

} // namespace
} // namespace ucdtest

int main(int argc, char **argv) {
    using namespace ucdtest;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) {
        ways();
        MPI_Finalize();
        return 0;
    }
    single_messages();
    packing();
    for (const Completing &way : completing) {
        several_messages(way);
        several_starts(way);
        different_messages(way);
    }
    collective_calls();
    buffers_before_the_data();
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) std::puts("all launches are as expected");
    MPI_Finalize();
}
