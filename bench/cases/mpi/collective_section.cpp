#include "cases/mpi/layouts.hpp"
#include "cases/mpi/sections.hpp"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

// A matrix in blocks of rows becomes its transpose in blocks of rows. Each process receives rows of
// a block as columns.
class Transpose {
public:
    explicit Transpose(int bytes)
        : edge_(std::max(2, static_cast<int>(std::sqrt(bytes / 8)))), rows_(edge_),
          from_(doubles()), to_(doubles()) {
        const int n = edge_ * processes;
        MPI_Datatype column, next_to_it;
        MPI_Type_vector(rows_, edge_, n, MPI_DOUBLE, &block_);
        MPI_Type_commit(&block_);
        MPI_Type_vector(edge_, 1, n, MPI_DOUBLE, &column);
        MPI_Type_create_resized(column, 0, sizeof(double), &next_to_it);
        MPI_Type_contiguous(rows_, next_to_it, &transposed_);
        MPI_Type_commit(&transposed_);
        MPI_Type_free(&column);
        MPI_Type_free(&next_to_it);
        const auto all = static_cast<std::size_t>(processes);
        ones_.assign(all, 1);
        blocks_.assign(all, block_);
        transposes_.assign(all, transposed_);
        for (int i = 0; i < processes; ++i)
            displs_.push_back(i * edge_ * static_cast<int>(sizeof(double)));
    }
    Transpose(const Transpose &) = delete;
    Transpose &operator=(const Transpose &) = delete;
    ~Transpose() {
        MPI_Type_free(&block_);
        MPI_Type_free(&transposed_);
    }
    std::size_t bytes() const {
        return static_cast<std::size_t>(edge_) * static_cast<std::size_t>(rows_) * sizeof(double);
    }
    void run(const MpiCalls &calls) {
        calls.alltoallw(from_.data(), ones_.data(), displs_.data(), blocks_.data(), to_.data(),
                        ones_.data(), displs_.data(), transposes_.data(), MPI_COMM_WORLD);
    }

private:
    std::size_t doubles() const {
        return bytes() / sizeof(double) * static_cast<std::size_t>(processes);
    }

    int edge_, rows_;
    std::vector<double> from_, to_;
    MPI_Datatype block_ = MPI_DATATYPE_NULL, transposed_ = MPI_DATATYPE_NULL;
    std::vector<int> ones_, displs_;
    std::vector<MPI_Datatype> blocks_, transposes_;
};

void add_collectives(RatioTable &table, const MpiLayout &l) {
    const auto all = static_cast<std::size_t>(processes);
    std::vector<char> sent(l.extent * all), received(l.extent * all);
    int root = 0;
    using Run = void (*)(const MpiCalls &, const MpiLayout &, char *, char *, int &);
    struct Kind {
        const char *name;
        Run run;
    };
    const Kind kinds[] = {
        {"bcast: ",
         [](const MpiCalls &calls, const MpiLayout &layout, char *from, char *, int &turn) {
             calls.bcast(from, layout.count, layout.type, turn++ % processes, MPI_COMM_WORLD);
         }},
        {"allgather: ",
         [](const MpiCalls &calls, const MpiLayout &layout, char *from, char *to, int &) {
             calls.allgather(from, layout.count, layout.type, to, layout.count, layout.type,
                             MPI_COMM_WORLD);
         }},
        {"alltoall: ",
         [](const MpiCalls &calls, const MpiLayout &layout, char *from, char *to, int &) {
             calls.alltoall(from, layout.count, layout.type, to, layout.count, layout.type,
                            MPI_COMM_WORLD);
         }}};
    for (const Kind &kind : kinds) {
        table.add(kind.name + l.name, l.bytes,
                  compare(l.bytes,
                          [&](const MpiCalls &calls) {
                              kind.run(calls, l, sent.data(), received.data(), root);
                          }),
                  !l.is_contiguous());
    }
}

} // namespace

void collective_section(const Sizes &sizes) {
    RatioTable table("collective", compared);
    for (const int size : sizes) {
        for (const MpiLayout &l : mpi_layouts(size)) add_collectives(table, l);
        Transpose transpose(size);
        table.add("alltoallw: transpose", transpose.bytes(),
                  compare(transpose.bytes(), [&](const MpiCalls &calls) { transpose.run(calls); }),
                  true);
    }
}

} // namespace bench
