#include "mpi/collectives.hpp"
#include "mpi/placed.hpp"

#include <cstddef>
#include <vector>

namespace ucdtest {
namespace {

// Each third int of `items` stretches; on the device, if there is one.
class Strided {
public:
    static constexpr int ints = 5000;

    explicit Strided(int items, bool on_device = true)
        : memory(static_cast<std::size_t>(3 * ints * items), -1),
          placed_(memory.data(), memory.size() * sizeof(int), on_device) {
        MPI_Datatype vector = MPI_DATATYPE_NULL;
        MPI_OK(MPI_Type_vector(ints, 1, 3, MPI_INT, &vector));
        MPI_OK(MPI_Type_create_resized(vector, 0, 3 * ints * sizeof(int), &type));
        MPI_OK(MPI_Type_commit(&type));
        MPI_OK(MPI_Type_free(&vector));
        warm(type);
    }
    Strided(const Strided &) = delete;
    Strided &operator=(const Strided &) = delete;
    ~Strided() {
        if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
    }
    void fill(int item, int number) {
        for (int i = 0; i < 3 * ints; i += 3) memory[index(item, i)] = number;
        placed_.store();
    }
    int *data() const { return reinterpret_cast<int *>(placed_.data()); }
    bool has(int item, int number) const {
        placed_.fetch();
        for (int i = 0; i < 3 * ints; ++i)
            if (memory[index(item, i)] != (i % 3 == 0 ? number : -1)) return false;
        return true;
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::vector<int> memory;

private:
    Placed placed_;

    static std::size_t index(int item, int i) {
        return static_cast<std::size_t>(3 * ints * item + i);
    }
};

void freed_while_under_way() {
    current = "a type that is freed while a call is under way";
    Strided strided(processes);
    strided.fill(rank, rank);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_OK(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, strided.data(), 1, strided.type,
                          MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Type_free(&strided.type));
    // Nobody writes this status with MPICH.
    MPI_Status status;
    MPI_OK(MPI_Status_set_cancelled(&status, 1));
    MPI_OK(MPI_Wait(&request, &status));
    for (int i = 0; i < processes; ++i) CHECK(strided.has(i, i));
}

void several_under_way() {
    current = "calls that are under way at once";
    std::vector<MPI_Request> requests(static_cast<std::size_t>(processes), MPI_REQUEST_NULL);
    Strided strided(processes);
    strided.fill(rank, rank);
    for (int root = 0; root < processes; ++root)
        MPI_OK(MPI_Ibcast(strided.data() + std::ptrdiff_t{3} * Strided::ints * root, 1,
                          strided.type, root, MPI_COMM_WORLD,
                          &requests[static_cast<std::size_t>(root)]));
    MPI_OK(MPI_Waitall(processes, requests.data(), MPI_STATUSES_IGNORE));
    for (int i = 0; i < processes; ++i) CHECK(strided.has(i, i));
}

void between_groups() {
    current = "two groups";
    MPI_Comm group = MPI_COMM_NULL, both = MPI_COMM_NULL;
    MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank, &group));
    MPI_OK(MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &both));
    Strided strided(1, false); // which is left to MPI
    if (rank == 0) strided.fill(0, 42);
    MPI_OK(MPI_Bcast(strided.data(), 1, strided.type, rank == 0 ? MPI_ROOT : 0, both));
    CHECK(strided.has(0, 42));
    MPI_OK(MPI_Comm_free(&both));
    MPI_OK(MPI_Comm_free(&group));
}

// MPI copies, or the library does.
void one_process() {
    current = "one process";
    Strided sent(1), received(1);
    sent.fill(0, 11);
    const auto clear = [&] { received.fill(0, -1); };
    const int one = 1, zero = 0;
    const auto in = received.data(), out = sent.data();
    MPI_OK(MPI_Allgather(out, 1, sent.type, in, 1, received.type, MPI_COMM_SELF));
    CHECK(received.has(0, 11));
    clear();
    MPI_OK(MPI_Gatherv(out, 1, sent.type, in, &one, &zero, received.type, 0, MPI_COMM_SELF));
    CHECK(received.has(0, 11));
    clear();
    MPI_OK(MPI_Alltoallw(out, &one, &zero, &sent.type, in, &one, &zero, &received.type,
                         MPI_COMM_SELF));
    CHECK(received.has(0, 11));
    MPI_OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, received.type, MPI_COMM_SELF));
    MPI_OK(MPI_Bcast(in, 1, received.type, 0, MPI_COMM_SELF));
    CHECK(received.has(0, 11));
}

// All send to process 0, which sends to none; they receive from none.
void some_without_neighbours() {
    current = "no neighbours";
    std::vector<int> others;
    for (int i = 1; i < processes; ++i) others.push_back(i);
    const int root = 0, sends = rank == 0 ? 0 : 1, receives = rank == 0 ? processes - 1 : 0;
    MPI_Comm graph = MPI_COMM_NULL;
    MPI_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, receives, others.data(), MPI_UNWEIGHTED,
                                          sends, &root, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    Strided sent(1), received(processes);
    sent.fill(0, 50 + rank);
    for (int i = 0; i < processes; ++i) received.fill(i, -1);
    MPI_OK(
        MPI_Neighbor_alltoall(sent.data(), 1, sent.type, received.data(), 1, received.type, graph));
    for (int i = 0; i < processes; ++i) CHECK(received.has(i, i < receives ? 51 + i : -1));
    MPI_OK(MPI_Comm_free(&graph));
}

void errors_are_those_of_mpi() {
    current = "errors";
    Strided strided(processes);
    void *const memory = strided.data();
    const auto class_of = [](int error) {
        int found = MPI_SUCCESS;
        MPI_Error_class(error, &found);
        return found;
    };
    CHECK(class_of(MPI_Bcast(memory, 1, strided.type, 77, MPI_COMM_WORLD)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Bcast(memory, -1, strided.type, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, memory, -1, strided.type,
                                 MPI_COMM_WORLD)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Neighbor_allgather(memory, 1, strided.type, memory, 1, strided.type,
                                          MPI_COMM_WORLD)) != MPI_SUCCESS);
}

} // namespace

void named_collectives() {
    freed_while_under_way();
    several_under_way();
    between_groups();
    one_process();
    some_without_neighbours();
    errors_are_those_of_mpi();
}

} // namespace ucdtest
