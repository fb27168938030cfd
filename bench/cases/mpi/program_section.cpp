// Three programs as users write them, each with its computation between the exchanges: what is sent
// comes from where the computation left it, often not from the caches. Only the exchanges are
// timed.
#include "cases/mpi/sections.hpp"
#include "harness/mpi/turns.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace bench {
namespace {

// All processes leave the computation at once, and it does not count.
template <class Computation>
void compute(Computation computation) {
    const double begin = now();
    computation();
    PMPI_Barrier(MPI_COMM_WORLD);
    seconds_not_counted += now() - begin;
}

MPI_Datatype committed(MPI_Datatype type) {
    MPI_Type_commit(&type);
    return type;
}

// A square of doubles on each of two processes, side by side and periodic: the halo is a column at
// each side.
class Jacobi {
public:
    explicit Jacobi(int edge)
        : edge_(edge), row_(edge + 2), now_(cells(), 1), next_(cells(), 2),
          column_(make_column(edge, row_)) {}
    Jacobi(const Jacobi &) = delete;
    Jacobi &operator=(const Jacobi &) = delete;
    ~Jacobi() { MPI_Type_free(&column_); }

    std::size_t bytes() const { return static_cast<std::size_t>(edge_) * sizeof(double); }

    void step(const MpiCalls &calls) {
        compute([&] { sweep(); });
        double *const first = now_.data() + row_; // of the first row that is not a halo
        const int other = 1 - rank;
        MPI_Request requests[4];
        calls.irecv(first, 1, column_, other, 0, MPI_COMM_WORLD, &requests[0]);
        calls.irecv(first + edge_ + 1, 1, column_, other, 1, MPI_COMM_WORLD, &requests[1]);
        calls.isend(first + edge_, 1, column_, other, 0, MPI_COMM_WORLD, &requests[2]);
        calls.isend(first + 1, 1, column_, other, 1, MPI_COMM_WORLD, &requests[3]);
        calls.wait_all(4, requests, MPI_STATUSES_IGNORE);
    }

private:
    static MPI_Datatype make_column(int edge, int row) {
        MPI_Datatype type;
        MPI_Type_vector(edge, 1, row, MPI_DOUBLE, &type);
        return committed(type);
    }
    std::size_t cells() const {
        return static_cast<std::size_t>(row_) * static_cast<std::size_t>(row_);
    }
    void sweep() {
        const std::ptrdiff_t row = row_;
        for (std::ptrdiff_t y = 1; y <= edge_; ++y) {
            const double *const at = now_.data() + y * row;
            double *const to = next_.data() + y * row;
            for (std::ptrdiff_t x = 1; x <= edge_; ++x)
                to[x] = 0.25 * (at[x - 1] + at[x + 1] + at[x - row] + at[x + row]);
        }
        std::swap(now_, next_);
    }

    int edge_, row_;
    std::vector<double> now_, next_;
    MPI_Datatype column_;
};

using Complex = double[2];

// Complex numbers [x][y][z], divided along x at first and along z then, as in a Fourier transform
// of slabs: each process sends a part of every row, and receives whole ones.
class Slabs {
public:
    Slabs(int x, int y, int z)
        : rows_(cells(x, y, z)), parts_(rows_.size()), x_(x / processes), z_(z / processes) {
        MPI_Datatype element;
        MPI_Type_dup(MPI_C_DOUBLE_COMPLEX, &element);
        for (int p = 0; p < processes; ++p) {
            of_rows_.push_back(part({x_, y, z}, {x_, y, z_}, {0, 0, p * z_}, element));
            of_parts_.push_back(part({x, y, z_}, {x_, y, z_}, {p * x_, 0, 0}, element));
        }
        MPI_Type_free(&element);
        bytes_ = sizeof(Complex) * static_cast<std::size_t>(x_) * static_cast<std::size_t>(y) *
                 static_cast<std::size_t>(z_);
    }
    Slabs(const Slabs &) = delete;
    Slabs &operator=(const Slabs &) = delete;
    ~Slabs() {
        for (MPI_Datatype &type : of_rows_) MPI_Type_free(&type);
        for (MPI_Datatype &type : of_parts_) MPI_Type_free(&type);
    }

    std::size_t bytes() const { return bytes_; }

    void there_and_back(const MpiCalls &calls) {
        const std::vector<int> ones(of_rows_.size(), 1), zeros(of_rows_.size());
        const auto move = [&](double *from, std::vector<MPI_Datatype> &sent, double *to,
                              std::vector<MPI_Datatype> &received) {
            compute([&] { scale(from); });
            calls.alltoallw(from, ones.data(), zeros.data(), sent.data(), to, ones.data(),
                            zeros.data(), received.data(), MPI_COMM_WORLD);
        };
        move(rows_.data(), of_rows_, parts_.data(), of_parts_);
        move(parts_.data(), of_parts_, rows_.data(), of_rows_);
    }

private:
    struct Three {
        int of[3];
    };
    static MPI_Datatype part(Three sizes, Three subsizes, Three starts, MPI_Datatype element) {
        MPI_Datatype type;
        MPI_Type_create_subarray(3, sizes.of, subsizes.of, starts.of, MPI_ORDER_C, element, &type);
        return committed(type);
    }
    static std::size_t cells(int x, int y, int z) {
        return 2 * static_cast<std::size_t>(x / processes) * static_cast<std::size_t>(y) *
               static_cast<std::size_t>(z);
    }
    void scale(double *numbers) const {
        for (std::size_t i = 0; i < rows_.size(); ++i) numbers[i] = 0.5 * numbers[i] + 1;
    }

    std::vector<double> rows_, parts_;
    int x_, z_;
    std::vector<MPI_Datatype> of_rows_, of_parts_;
    std::size_t bytes_ = 0;
};

struct Particle {
    int id;
    double position[3];
    float mass;
    double velocity[3];
};

// Particles fly, and those of a new list in each step go to the other process, straight from where
// they are; what arrives is counted first.
class Particles {
public:
    explicit Particles(int leaving)
        : all_(static_cast<std::size_t>(particles_for_each * leaving)),
          arrived_(static_cast<std::size_t>(2 * leaving)), leaving_(leaving) {
        const int lengths[] = {1, 3, 1, 3};
        const MPI_Aint displs[] = {offsetof(Particle, id), offsetof(Particle, position),
                                   offsetof(Particle, mass), offsetof(Particle, velocity)};
        const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_FLOAT, MPI_DOUBLE};
        MPI_Datatype members;
        MPI_Type_create_struct(4, lengths, displs, types, &members);
        MPI_Type_create_resized(members, 0, sizeof(Particle), &particle_);
        MPI_Type_free(&members);
        MPI_Type_commit(&particle_);
    }
    Particles(const Particles &) = delete;
    Particles &operator=(const Particles &) = delete;
    ~Particles() { MPI_Type_free(&particle_); }

    std::size_t bytes() const {
        return static_cast<std::size_t>(leaving_) *
               (sizeof(int) + sizeof(float) + 6 * sizeof(double));
    }

    void step(const MpiCalls &calls) {
        compute([&] { fly(); });
        MPI_Datatype list;
        MPI_Type_create_indexed_block(static_cast<int>(leave_.size()), 1, leave_.data(), particle_,
                                      &list);
        calls.type_commit(&list);
        MPI_Request request;
        calls.isend(all_.data(), 1, list, 1 - rank, 0, MPI_COMM_WORLD, &request);
        calls.type_free(&list);
        MPI_Status status;
        int arriving = 0;
        PMPI_Probe(1 - rank, 0, MPI_COMM_WORLD, &status);
        PMPI_Get_count(&status, particle_, &arriving);
        calls.recv(arrived_.data(), arriving, particle_, 1 - rank, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
        calls.wait_all(1, &request, MPI_STATUSES_IGNORE);
    }

private:
    static constexpr int particles_for_each = 40; // that leaves

    // Some of them leave, others each time.
    void fly() {
        leave_.clear();
        for (std::size_t i = 0; i < all_.size(); ++i) {
            for (int k = 0; k < 3; ++k) all_[i].position[k] += all_[i].velocity[k];
            state_ = state_ * 1664525 + 1013904223;
            if ((state_ >> 16) % particles_for_each == 0 && leave_.size() < arrived_.size())
                leave_.push_back(static_cast<int>(i));
        }
    }

    std::vector<Particle> all_, arrived_;
    std::vector<int> leave_;
    int leaving_;
    std::uint32_t state_ = 1;
    MPI_Datatype particle_ = MPI_DATATYPE_NULL;
};

} // namespace

void program_section() {
    if (processes != 2) return;
    RatioTable table("programs", compared);
    for (const int edge : {128, 256, 512, 1024, 2048}) {
        Jacobi jacobi(edge);
        table.add("Jacobi, " + std::to_string(edge) + " squared", jacobi.bytes(),
                  compare(jacobi.bytes(), [&](const MpiCalls &calls) { jacobi.step(calls); }),
                  true);
    }
    for (const auto &[x, y, z] : {std::array{64, 64, 64}, {256, 256, 4}, {4096, 16, 2}}) {
        Slabs slabs(x, y, z);
        const std::string name =
            "slabs, " + std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
        table.add(
            name, slabs.bytes(),
            compare(slabs.bytes(), [&](const MpiCalls &calls) { slabs.there_and_back(calls); }),
            true);
    }
    for (const int leaving : {30, 300, 3000}) {
        Particles particles(leaving);
        table.add("particles, " + std::to_string(leaving) + " a message", particles.bytes(),
                  compare(particles.bytes(), [&](const MpiCalls &calls) { particles.step(calls); }),
                  true);
    }
}

} // namespace bench
