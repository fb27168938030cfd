// One process's part of the stencil's grid, and the ways to exchange its border with the
// neighbours.
#pragma once

#include "baselines/stencil.hpp"
#include "cases/apps/sections.hpp"
#include "harness/ucd_peer.hpp"

#include <optional>

namespace bench::apps {

enum Side { north, south, west, east };
constexpr int sides = 4;

// As SHOC does: first the rows of points, then the columns with the border's points above and
// below, which so bring the corners of the processes across.
template <class T>
class StencilPart {
public:
    StencilPart(Peers &peers, Device &device, const ProcessGrid &grid, int n);

    int n() const { return n_; }
    std::size_t bytes() const { return part_bytes_; }
    // The values before the next iteration. Rows are n + 2 points apart, from the border's first.
    T *now() const { return reinterpret_cast<T *>(arrays_[current_]->data()); }
    // Both of the arrays that take turns, which hold the same border.
    void set(const T *values);

    // UCD packs rows and columns of the part, and unpacks into its border.
    void exchange_by_ucd();
    // Columns packed by a kernel into a contiguous buffer of the same memory, and unpacked by
    // another.
    void exchange_by_hand();
    // A 2-D copy to the host for each row and column, which is sent from there, and back.
    void exchange_by_copies();
    // One step of all points, begun.
    void start_step();

private:
    struct Halo {
        std::optional<unsigned> neighbour;
        std::size_t first_sent, first_received; // points from the part's start
        UcdType sent, received;
    };
    Halo halo(Side side, const ProcessGrid &grid) const;
    template <class Transfer>
    void with_both(Side first, Side second, Transfer transfer);
    void copy_and_send(Side first, Side second, std::size_t width, std::size_t rows);

    Peers &peers_;
    Device &device_;
    StencilKernels<T> kernels_;
    int n_;
    std::ptrdiff_t pitch_;
    std::size_t part_bytes_;
    std::unique_ptr<Buffer> arrays_[2];
    int current_ = 0;
    std::vector<Halo> halos_;
    UcdInfo of_host_;
    Buffer packed_, on_host_; // for each side a buffer to send and one to receive
};

} // namespace bench::apps
