// Collective calls, each once as MPI_* and once as PMPI_*, which is the MPI library's own. Both
// must leave the same bytes in the buffers, also between the elements. Each process has layouts of
// its own, with the same elements.

#include "mpi/collectives.hpp"
#include "mpi/placed.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

namespace ucdtest {
namespace {

// MPICH 4.0.2 over UCX fails itself for some types of more than one fragment of 8 KiB.
#ifdef MPI_IS_MPICH
constexpr int max_elements = 150;
#else
constexpr int max_elements = 3000;
#endif

// What a type consists of: drawn alike by all processes.
struct Elements {
    MPI_Datatype leaf = MPI_INT;
    int number = 0;
};

// Types that are freed at the end.
class Types {
public:
    ~Types() {
        for (MPI_Datatype &type : made_) MPI_Type_free(&type);
    }
    // With these elements, somehow laid out. `items` of them stand one behind the other somewhere.
    MPI_Datatype draw(Rng &rng, const Elements &elements, int items) {
        const int n = elements.number;
        if (n == 1 && rng.chance(50)) return elements.leaf;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        std::vector<int> lengths, displs;
        switch (rng.below(5)) {
        case 0: MPI_OK(MPI_Type_contiguous(n, elements.leaf, &type)); break;
        case 1:
            MPI_OK(MPI_Type_vector(n, 1, 2 + static_cast<int>(rng.below(3)), elements.leaf, &type));
            break;
        case 2: MPI_OK(MPI_Type_vector(n, 1, -2, elements.leaf, &type)); break;
        case 3:
            for (int left = n, at = 0; left > 0;) {
                lengths.push_back(std::min(left, 1 + static_cast<int>(rng.below(4))));
                displs.push_back(at);
                at += lengths.back() + static_cast<int>(rng.below(3));
                left -= lengths.back();
            }
            MPI_OK(MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), displs.data(),
                                    elements.leaf, &type));
            break;
        default: { // columns of a matrix, one beside the other
            MPI_Aint lb = 0, extent = 0;
            MPI_Datatype column = MPI_DATATYPE_NULL;
            MPI_OK(MPI_Type_get_extent(elements.leaf, &lb, &extent));
            // Open MPI needs room for the items of all processes.
            MPI_OK(MPI_Type_vector(n, 1, items * processes + 1, elements.leaf, &column));
            MPI_OK(MPI_Type_create_resized(column, 0, extent, &type));
            MPI_OK(MPI_Type_free(&column));
        }
        }
        MPI_OK(MPI_Type_commit(&type));
        made_.push_back(type);
        return type;
    }
    // A double and an int, with a gap.
    MPI_Datatype particle() {
        const int lengths[] = {1, 1};
        const MPI_Aint displs[] = {0, 12};
        const MPI_Datatype members[] = {MPI_DOUBLE, MPI_INT};
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_OK(MPI_Type_create_struct(2, lengths, displs, members, &type));
        MPI_OK(MPI_Type_commit(&type));
        made_.push_back(type);
        return type;
    }

private:
    std::vector<MPI_Datatype> made_;
};

// One side's arguments, in the forms of all calls.
struct Side {
    std::vector<int> counts;
    std::vector<int> displs;         // in extents of the type
    std::vector<int> byte_displs;    // with types
    std::vector<MPI_Aint> addresses; // the same
    std::vector<MPI_Datatype> types;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Aint low = 0;
    std::vector<std::byte> memory;

    void *buffer(std::byte *bytes) const { return bytes - low; }

    void draw_memory(Rng &rng, const Range &range) {
        low = std::min<MPI_Aint>(range.low, 0);
        memory.resize(static_cast<std::size_t>(std::max<MPI_Aint>(range.high, 0) - low) + 16);
        for (std::byte &b : memory) b = static_cast<std::byte>(rng.bits());
    }
};

// One type; blocks with gaps between, or none.
Side draw_side(Rng &rng, Types &types, const Elements &elements, std::vector<int> counts,
               bool gaps) {
    Side side;
    int items = 0;
    for (const int count : counts) {
        if (gaps) items += static_cast<int>(rng.below(2));
        side.displs.push_back(items);
        items += count;
    }
    side.counts = std::move(counts);
    side.type = types.draw(rng, elements, items);
    if (!has_device() || rng.chance(50)) warm(side.type);
    side.draw_memory(rng, range_of(side.type, std::max(items, 1)));
    return side;
}

// A type for each block.
Side draw_typed_side(Rng &rng, Types &types, const Elements &elements, std::vector<int> counts) {
    Side side;
    MPI_Aint end = 0;
    for (const int count : counts) {
        side.types.push_back(types.draw(rng, elements, std::max(count, 1)));
        if (!has_device() || rng.chance(50)) warm(side.types.back());
        const Range range = range_of(side.types.back(), std::max(count, 1));
        side.addresses.push_back(end - range.low);
        side.byte_displs.push_back(static_cast<int>(side.addresses.back()));
        end += range.high - range.low;
    }
    side.counts = std::move(counts);
    side.draw_memory(rng, {0, end});
    return side;
}

enum Kind {
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    alltoallw,
    neighbor_allgather,
    neighbor_allgatherv,
    neighbor_alltoall,
    neighbor_alltoallv,
    neighbor_alltoallw,
    kinds
};

enum class Way { blocking, nonblocking, persistent };
#if defined(MPICH_NUMVERSION) &&                                                                   \
    MPICH_NUMVERSION < 50000000 // which frees the types of persistent calls
constexpr int ways = 2;
#else
constexpr int ways = 3;
#endif

struct Call {
    Kind kind = bcast;
    Way way = Way::blocking;
    bool in_place = false, from_bottom = false, plain = false;
    int root = 0;
    MPI_Comm comm = MPI_COMM_NULL;
};

// As MPI_* or PMPI_*, in each way.
#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5 // has persistent calls as an extension
#define PERSISTENT(name) MPIX_##name##_init
#define PLAIN_PERSISTENT(name) PMPIX_##name##_init
#else
#define PERSISTENT(name) MPI_##name##_init
#define PLAIN_PERSISTENT(name) PMPI_##name##_init
#endif
#define RUN(name, nonblocking_name, ...)                                                           \
    (call.way == Way::persistent                                                                   \
         ? (call.plain ? PLAIN_PERSISTENT(name)(__VA_ARGS__, MPI_INFO_NULL, &request)              \
                       : PERSISTENT(name)(__VA_ARGS__, MPI_INFO_NULL, &request))                   \
     : call.way == Way::nonblocking                                                                \
         ? (call.plain ? PMPI_##nonblocking_name(__VA_ARGS__, &request)                            \
                       : MPI_##nonblocking_name(__VA_ARGS__, &request))                            \
         : (call.plain ? PMPI_##name(__VA_ARGS__) : MPI_##name(__VA_ARGS__)))

void invert(std::vector<std::byte> &bytes) {
    for (std::byte &b : bytes) b = ~b;
}

// With other data each time.
void start_some_times(MPI_Request &request, std::vector<std::byte> &sent, const Placed &placed) {
    for (int i = 0; i < 4; ++i) {
        MPI_Status status;
        if (i % 2 == 0)
            MPI_OK(MPI_Start(&request));
        else
            MPI_OK(MPI_Startall(1, &request));
        int complete = i < 2 ? 0 : 1;
        while (complete == 0) MPI_OK(MPI_Test(&request, &complete, &status));
        MPI_OK(MPI_Wait(&request, &status));
        invert(sent);
        placed.store();
    }
    MPI_OK(MPI_Request_free(&request));
}

// What is not read here is nonsense.
void run(const Call &call, const Side &s, std::vector<std::byte> &sent, const Placed &from,
         const Side &r, const Placed &to) {
    const bool is_root = rank == call.root;
    const void *const nonsense = reinterpret_cast<void *>(64);
    const bool sends = !call.in_place || (call.kind <= scatterv && !is_root) ||
                       call.kind == scatter || call.kind == scatterv;
    const bool from_root = call.kind == scatter || call.kind == scatterv;
    const void *sb = s.buffer(from.data());
    if (from_root && !is_root) sb = nonsense;
    if (!sends) sb = MPI_IN_PLACE;
    void *rb = r.buffer(to.data());
    const bool to_root = call.kind == gather || call.kind == gatherv;
    if (to_root && !is_root) rb = const_cast<void *>(nonsense);
    if (from_root && is_root && call.in_place) rb = MPI_IN_PLACE;
    // Counts of equal blocks are the first ones.
    const int sc = s.counts.empty() ? 0 : s.counts[0], rc = r.counts.empty() ? 0 : r.counts[0];
    const int *const scs = s.counts.data(), *const rcs = r.counts.data();
    const int *const sd = s.displs.data(), *const rd = r.displs.data();
    const int *const sbd = s.byte_displs.data(), *const rbd = r.byte_displs.data();
    const MPI_Datatype st = from_root && !is_root ? MPI_DATATYPE_NULL : s.type;
    const MPI_Datatype rt = to_root && !is_root ? MPI_DATATYPE_NULL : r.type;
    std::vector<MPI_Aint> sa = s.addresses, ra = r.addresses;
    if (call.from_bottom) { // displacements are addresses
        for (MPI_Aint &address : sa) address += reinterpret_cast<MPI_Aint>(sb);
        for (MPI_Aint &address : ra) address += reinterpret_cast<MPI_Aint>(rb);
        sb = rb = MPI_BOTTOM;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    int error = MPI_SUCCESS;
    switch (call.kind) {
    case bcast: error = RUN(Bcast, Ibcast, rb, rc, rt, call.root, call.comm); break;
    case gather: error = RUN(Gather, Igather, sb, sc, st, rb, rc, rt, call.root, call.comm); break;
    case gatherv:
        error = RUN(Gatherv, Igatherv, sb, sc, st, rb, rcs, rd, rt, call.root, call.comm);
        break;
    case scatter:
        error = RUN(Scatter, Iscatter, sb, sc, st, rb, rc, rt, call.root, call.comm);
        break;
    case scatterv:
        error = RUN(Scatterv, Iscatterv, sb, scs, sd, st, rb, rc, rt, call.root, call.comm);
        break;
    case allgather: error = RUN(Allgather, Iallgather, sb, sc, st, rb, rc, rt, call.comm); break;
    case allgatherv:
        error = RUN(Allgatherv, Iallgatherv, sb, sc, st, rb, rcs, rd, rt, call.comm);
        break;
    case alltoall: error = RUN(Alltoall, Ialltoall, sb, sc, st, rb, rc, rt, call.comm); break;
    case alltoallv:
        error = RUN(Alltoallv, Ialltoallv, sb, scs, sd, st, rb, rcs, rd, rt, call.comm);
        break;
    case alltoallw:
        error = RUN(Alltoallw, Ialltoallw, sb, scs, sbd, s.types.data(), rb, rcs, rbd,
                    r.types.data(), call.comm);
        break;
    case neighbor_allgather:
        error = RUN(Neighbor_allgather, Ineighbor_allgather, sb, sc, st, rb, rc, rt, call.comm);
        break;
    case neighbor_allgatherv:
        error =
            RUN(Neighbor_allgatherv, Ineighbor_allgatherv, sb, sc, st, rb, rcs, rd, rt, call.comm);
        break;
    case neighbor_alltoall:
        error = RUN(Neighbor_alltoall, Ineighbor_alltoall, sb, sc, st, rb, rc, rt, call.comm);
        break;
    case neighbor_alltoallv:
        error = RUN(Neighbor_alltoallv, Ineighbor_alltoallv, sb, scs, sd, st, rb, rcs, rd, rt,
                    call.comm);
        break;
    default:
        error = RUN(Neighbor_alltoallw, Ineighbor_alltoallw, sb, scs, sa.data(), s.types.data(), rb,
                    rcs, ra.data(), r.types.data(), call.comm);
    }
    CHECK(error == MPI_SUCCESS);
    if (call.way == Way::persistent) start_some_times(request, sent, from);
    if (call.way == Way::nonblocking) {
        MPI_Status status;
        MPI_OK(MPI_Wait(&request, &status));
    }
}

// Communicators with neighbours.
class Topologies {
public:
    Topologies() {
        int dims[2] = {0, 0};
        const int border[2] = {0, 1}, around[2] = {1, 1};
        MPI_OK(MPI_Dims_create(processes, 2, dims));
        MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, border, 0, &comms[0]));
        MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, around, 0, &comms[1]));
        // To the next but one, and those behind it.
        const int to[2] = {(rank + 1) % processes, (rank + 2) % processes};
        const int from[2] = {(rank + processes - 1) % processes,
                             (rank + processes - 2 % processes) % processes};
        MPI_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to,
                                              MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comms[2]));
        // All with all others.
        std::vector<int> index, edges;
        for (int i = 0; i < processes; ++i) {
            for (int j = 0; j < processes; ++j)
                if (j != i) edges.push_back(j);
            index.push_back(static_cast<int>(edges.size()));
        }
        MPI_OK(
            MPI_Graph_create(MPI_COMM_WORLD, processes, index.data(), edges.data(), 0, &comms[3]));
    }
    ~Topologies() {
        for (MPI_Comm &comm : comms) MPI_Comm_free(&comm);
    }
    int neighbours(std::size_t i) const { return i < 2 ? 4 : i == 2 ? 2 : processes - 1; }
    std::array<MPI_Comm, 4> comms;
};

std::vector<int> column(const std::vector<std::vector<int>> &matrix, int j) {
    std::vector<int> entries;
    for (const std::vector<int> &row : matrix) entries.push_back(row[static_cast<std::size_t>(j)]);
    return entries;
}

// Each kind comes in turn, blocking and not.
void random_call(int number, Rng shared, Rng own, const Topologies &topologies) {
    Types types;
    Call call;
    call.kind = static_cast<Kind>(number % kinds);
    call.way = static_cast<Way>(number / kinds % ways);
    call.root = static_cast<int>(shared.below(static_cast<std::uint64_t>(processes)));
    call.in_place = call.kind > bcast && call.kind < neighbor_allgather && shared.chance(30);
#ifdef OPEN_MPI // whose own calls of these fail in Open MPI 4.1
    if (call.kind >= alltoall && call.way != Way::blocking) call.in_place = false;
#endif
    call.from_bottom = call.kind == neighbor_alltoallw && own.chance(50);
    const std::size_t topology = shared.below(4);
    const bool neighbors = call.kind >= neighbor_allgather;
    call.comm = neighbors ? topologies.comms[topology] : MPI_COMM_WORLD;
    Elements elements;
    const MPI_Datatype particle = types.particle();
    elements.leaf = std::array{MPI_INT, MPI_DOUBLE, particle}[shared.below(3)];
    const bool few = number / kinds / ways % 4 == 3; // which is left to MPI
    elements.number = few && shared.chance(30) ? 1
                      : few                    ? 1 + static_cast<int>(shared.below(50))
                            : max_elements / 2 + static_cast<int>(shared.below(max_elements / 2));
    const int blocks = neighbors ? topologies.neighbours(topology) : processes;
    const int count = 1 + static_cast<int>(shared.below(4));
    current += "call " + std::to_string(call.kind) +
               std::array{", blocking", ", nonblocking",
                          ", persistent"}[static_cast<std::size_t>(call.way)] +
               (call.in_place ? ", in place" : "") + ", root " + std::to_string(call.root) + ", " +
               std::to_string(count) + " of " + std::to_string(elements.number);

    // What each process sends to each other one.
    std::vector<std::vector<int>> matrix(static_cast<std::size_t>(processes));
    for (std::vector<int> &row : matrix)
        for (int j = 0; j < processes; ++j)
            row.push_back(shared.chance(20) ? 0 : 1 + static_cast<int>(shared.below(4)));
    if (call.in_place) // the same both ways
        for (std::size_t i = 0; i < matrix.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) matrix[i][j] = matrix[j][i];
    const std::vector<int> equal(static_cast<std::size_t>(blocks), count), one = {count};
    const std::vector<int> &mine = matrix[static_cast<std::size_t>(rank)];
    const std::vector<int> first = {mine[0]};

    Side s, r;
    const auto send = [&](const std::vector<int> &counts, bool gaps) {
        s = draw_side(own, types, elements, counts, gaps);
    };
    const auto receive = [&](const std::vector<int> &counts, bool gaps) {
        r = draw_side(own, types, elements, counts, gaps);
    };
    switch (call.kind) {
    case bcast: receive(one, false); break;
    case gather:
    case allgather:
    case neighbor_allgather:
        send(one, false);
        receive(equal, false);
        break;
    case neighbor_allgatherv:
        send(one, false);
        receive(equal, true);
        break;
    case gatherv:
    case allgatherv:
        send(first, false);
        receive(column(matrix, 0), true);
        break;
    case scatter:
        send(equal, false);
        receive(one, false);
        break;
    case scatterv:
        send(column(matrix, 0), true);
        receive(first, false);
        break;
    case alltoall:
    case neighbor_alltoall:
        send(equal, false);
        receive(equal, false);
        break;
    case neighbor_alltoallv:
        send(equal, true);
        receive(equal, true);
        break;
    case alltoallv:
        send(mine, true);
        receive(column(matrix, rank), true);
        break;
    case alltoallw:
        s = draw_typed_side(own, types, elements, mine);
        r = draw_typed_side(own, types, elements, column(matrix, rank));
        break;
    default:
        s = draw_typed_side(own, types, elements, equal);
        r = draw_typed_side(own, types, elements, equal);
    }

    std::vector<std::byte> sent = s.memory, received = r.memory, by_mpi = r.memory;
    {
        const Placed from(sent, own.chance(60)), to(received, own.chance(60));
        run(call, s, sent, from, r, to);
        from.fetch();
        to.fetch();
    }
    call.plain = true;
    run(call, s, sent, Placed(sent, false), r, Placed(by_mpi, false));
    CHECK(received == by_mpi);
    CHECK(sent == s.memory);
}

} // namespace

void random_collectives(std::uint64_t seed, int cases) {
    const Topologies topologies;
    for (int i = 0; i < cases; ++i) {
        current = "case " + std::to_string(i) + ": ";
        const std::uint64_t mixed = mix_seed(seed, static_cast<std::uint64_t>(i));
        random_call(i, Rng(mixed), Rng(mix_seed(mixed, static_cast<std::uint64_t>(rank) + 1)),
                    topologies);
    }
}

} // namespace ucdtest
