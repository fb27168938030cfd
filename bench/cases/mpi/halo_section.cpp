#include "cases/mpi/layouts.hpp"
#include "cases/mpi/sections.hpp"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

// A cube of doubles with a layer of its neighbours' around, on a periodic grid of processes.
class Halo {
public:
    explicit Halo(int bytes)
        : edge_(std::max(2, static_cast<int>(std::sqrt(bytes / 8)))),
          cube_(static_cast<std::size_t>(edge_ + 2) * static_cast<std::size_t>(edge_ + 2) *
                static_cast<std::size_t>(edge_ + 2)) {
        int dims[3] = {0, 0, 0};
        const int periodic[3] = {1, 1, 1};
        MPI_Dims_create(processes, 3, dims);
        MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 0, &grid_);
        for (int dimension = 0; dimension < 3; ++dimension) {
            MPI_Cart_shift(grid_, dimension, 1, &neighbours_[2 * dimension],
                           &neighbours_[2 * dimension + 1]);
            for (int side = 0; side < 2; ++side) {
                sent_[2 * dimension + side] = face(dimension, side == 0 ? 1 : edge_);
                received_[2 * dimension + side] = face(dimension, side == 0 ? 0 : edge_ + 1);
            }
        }
    }
    Halo(const Halo &) = delete;
    Halo &operator=(const Halo &) = delete;
    ~Halo() {
        for (int i = 0; i < 6; ++i) {
            MPI_Type_free(&sent_[i]);
            MPI_Type_free(&received_[i]);
        }
        MPI_Comm_free(&grid_);
    }
    std::size_t bytes() const {
        return static_cast<std::size_t>(edge_) * static_cast<std::size_t>(edge_) * sizeof(double);
    }
    void by_messages(const MpiCalls &calls) {
        MPI_Request requests[12];
        for (int i = 0; i < 6; ++i)
            calls.irecv(cube_.data(), 1, received_[i], neighbours_[i], i, grid_, &requests[i]);
        // What is above me is below my neighbour.
        for (int i = 0; i < 6; ++i)
            calls.isend(cube_.data(), 1, sent_[i], neighbours_[i], i ^ 1, grid_, &requests[6 + i]);
        calls.wait_all(12, requests, MPI_STATUSES_IGNORE);
    }
    void by_one_call(const MpiCalls &calls) {
        const int ones[6] = {1, 1, 1, 1, 1, 1};
        const MPI_Aint displs[6] = {0, 0, 0, 0, 0, 0};
        calls.neighbor_alltoallw(cube_.data(), ones, displs, sent_, cube_.data(), ones, displs,
                                 received_, grid_);
    }

private:
    MPI_Datatype face(int dimension, int index) const {
        const int sizes[] = {edge_ + 2, edge_ + 2, edge_ + 2};
        int subsizes[] = {edge_, edge_, edge_}, starts[] = {1, 1, 1};
        subsizes[dimension] = 1;
        starts[dimension] = index;
        MPI_Datatype type;
        MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        return type;
    }

    int edge_;
    std::vector<double> cube_;
    MPI_Comm grid_ = MPI_COMM_NULL;
    int neighbours_[6] = {};
    MPI_Datatype sent_[6] = {}, received_[6] = {};
};

} // namespace

void halo_section(const Sizes &sizes) {
    RatioTable table("halo", compared);
    for (const int size : sizes) {
        Halo halo(size);
        table.add(
            "isend and irecv", halo.bytes(),
            compare(6 * halo.bytes(), [&](const MpiCalls &calls) { halo.by_messages(calls); }),
            true);
        table.add(
            "neighbor_alltoallw", halo.bytes(),
            compare(6 * halo.bytes(), [&](const MpiCalls &calls) { halo.by_one_call(calls); }),
            true);
    }
}

} // namespace bench
