// What libucd-mpi-preload changes: each measurement is done by MPI_ calls, which the library takes
// over, and by PMPI_ calls, which are the MPI library's own, in turns.
//
//     mpirun -n 2 ucd-mpi-run -- ucd-mpi-bench-openmpi [BYTES...]
//
// With one process it packs only. BYTES are the sizes of messages, from 64 on. Times are the least
// of several rounds.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <string>
#include <vector>

namespace {

int rank = 0, processes = 1;

struct Layout {
    std::string name;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int count = 1;
};

MPI_Datatype committed(MPI_Datatype type) {
    MPI_Type_commit(&type);
    return type;
}

MPI_Datatype vector(int blocks, int doubles, int stride) {
    MPI_Datatype type;
    MPI_Type_vector(blocks, doubles, stride, MPI_DOUBLE, &type);
    return committed(type);
}

// Blocks of 1 to 4 doubles with gaps of 0 to 3.
MPI_Datatype indexed(int doubles) {
    std::vector<int> lengths, displs;
    unsigned state = 1;
    for (int total = 0, at = 0; total < doubles;) {
        state = state * 1103515245 + 12345;
        const int length = std::min(1 + static_cast<int>(state >> 16 & 3), doubles - total);
        lengths.push_back(length);
        displs.push_back(at);
        total += length;
        at += length + static_cast<int>(state >> 20 & 3);
    }
    MPI_Datatype type;
    MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), displs.data(), MPI_DOUBLE,
                     &type);
    return committed(type);
}

// A face of a cube of doubles: `fixed` is the dimension that has one index only.
MPI_Datatype face(int doubles, int fixed) {
    const int edge = std::max(2, static_cast<int>(std::sqrt(doubles)));
    const int sizes[] = {edge, edge, edge}, starts[] = {0, 0, 0};
    int subsizes[] = {edge, edge, edge};
    subsizes[fixed] = 1;
    MPI_Datatype type;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return committed(type);
}

// struct { double x; float not_sent; int id; }
MPI_Datatype particle() {
    const int lengths[] = {1, 1};
    const MPI_Aint displs[] = {0, 12};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
    MPI_Datatype members, type;
    MPI_Type_create_struct(2, lengths, displs, types, &members);
    MPI_Type_create_resized(members, 0, 16, &type);
    MPI_Type_free(&members);
    return committed(type);
}

std::vector<Layout> layouts(int bytes) {
    const int doubles = bytes / 8;
    return {
        {"every second double", vector(doubles, 1, 2)},
        {"column of a matrix", vector(doubles, 1, 128)},
        {"blocks of 64 bytes", vector(doubles / 8, 8, 16)},
        {"blocks of 1 KiB", vector(std::max(1, doubles / 128), 128, 256)},
        {"blocks of 1 to 4 doubles", indexed(doubles)},
        {"particles", particle(), bytes / 12},
        {"face y of a cube", face(doubles, 1)},
        {"face z of a cube", face(doubles, 2)},
        {"contiguous", MPI_DOUBLE, doubles},
    };
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

struct Calls {
    decltype(&MPI_Pack) pack;
    decltype(&MPI_Unpack) unpack;
    decltype(&MPI_Send) send;
    decltype(&MPI_Recv) recv;
};
const Calls with = {MPI_Pack, MPI_Unpack, MPI_Send, MPI_Recv};
const Calls plain = {PMPI_Pack, PMPI_Unpack, PMPI_Send, PMPI_Recv};

class Measurement {
public:
    explicit Measurement(const Layout &layout) : layout_(layout) {
        MPI_Aint lb = 0, extent = 0;
        int size = 0;
        MPI_Type_get_extent(layout.type, &lb, &extent);
        MPI_Type_size(layout.type, &size);
        bytes_ = size * layout.count;
        data_.resize(static_cast<std::size_t>(extent) * static_cast<std::size_t>(layout.count));
        packed_.resize(static_cast<std::size_t>(bytes_));
    }
    int bytes() const { return bytes_; }

    // Seconds for packing and unpacking once.
    double pack(const Calls &calls) {
        int position = 0;
        const double start = now();
        calls.pack(data_.data(), layout_.count, layout_.type, packed_.data(), bytes_, &position,
                   MPI_COMM_WORLD);
        position = 0;
        calls.unpack(packed_.data(), bytes_, &position, data_.data(), layout_.count, layout_.type,
                     MPI_COMM_WORLD);
        return now() - start;
    }
    // There and back.
    double ping_pong(const Calls &calls) {
        const double start = now();
        const auto send = [&] {
            calls.send(data_.data(), layout_.count, layout_.type, 1 - rank, 0, MPI_COMM_WORLD);
        };
        const auto recv = [&] {
            calls.recv(data_.data(), layout_.count, layout_.type, 1 - rank, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
        };
        if (rank == 0) {
            send();
            recv();
        } else {
            recv();
            send();
        }
        return now() - start;
    }

private:
    const Layout &layout_;
    int bytes_ = 0;
    std::vector<char> data_, packed_;
};

// The least time of each, in turns. Both processes do as many calls.
template <class Once>
std::pair<double, double> in_turns(int bytes, Once once) {
    const int calls = std::max(2, 200000 / (bytes + 1000));
    const int rounds = std::clamp(40000000 / (bytes + 100000), 10, 60);
    std::pair<double, double> least = {1e9, 1e9};
    for (int round = 0; round < rounds; ++round) {
        double sums[2] = {0, 0};
        for (int i = 0; i < calls; ++i) sums[0] += once(plain);
        for (int i = 0; i < calls; ++i) sums[1] += once(with);
        least.first = std::min(least.first, sums[0] / calls);
        least.second = std::min(least.second, sums[1] / calls);
    }
    return least;
}

void print(const char *what, const Layout &layout, int bytes, std::pair<double, double> seconds,
           double &logarithms, int &rows) {
    const double ratio = seconds.first / seconds.second;
    if (layout.name != "contiguous") {
        logarithms += std::log(ratio);
        ++rows;
    }
    if (rank == 0)
        std::printf("%-10s %-26s %9d %11.2f %11.2f %8.2f\n", what, layout.name.c_str(), bytes,
                    1e6 * seconds.first, 1e6 * seconds.second, ratio);
}

} // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (processes > 2) {
        if (rank == 0) std::fprintf(stderr, "ucd-mpi-bench: runs with one or two processes\n");
        MPI_Finalize();
        return 2;
    }
    double logarithms[2] = {0, 0};
    int rows[2] = {0, 0};
    if (rank == 0)
        std::printf("%-10s %-26s %9s %11s %11s %8s\n", "what", "layout", "bytes", "plain µs",
                    "with UCD µs", "plain/UCD");
    std::vector<int> sizes;
    for (int i = 1; i < argc; ++i) sizes.push_back(std::max(64, std::atoi(argv[i])));
    if (sizes.empty()) sizes = {512, 4 << 10, 64 << 10, 1 << 20};
    for (const int bytes : sizes) {
        for (Layout &layout : layouts(bytes)) {
            Measurement m(layout);
            print("pack", layout, m.bytes(),
                  in_turns(m.bytes(), [&](const Calls &calls) { return m.pack(calls); }),
                  logarithms[0], rows[0]);
            if (processes == 2)
                print("ping-pong", layout, m.bytes(),
                      in_turns(m.bytes(), [&](const Calls &calls) { return m.ping_pong(calls); }),
                      logarithms[1], rows[1]);
            if (layout.type != MPI_DOUBLE) MPI_Type_free(&layout.type);
        }
    }
    const char *names[] = {"pack", "ping-pong"};
    for (int i = 0; i < processes && rank == 0; ++i)
        std::printf("%s: geometric mean of plain/UCD, without contiguous: %.2f\n", names[i],
                    std::exp(logarithms[i] / rows[i]));
    MPI_Finalize();
    return 0;
}
