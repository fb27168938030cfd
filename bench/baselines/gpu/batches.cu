#include "vendor.hpp"

#include "baselines/gpu/batches.hpp"

namespace bench::gpu::hand {
namespace {

constexpr unsigned threads = 256;

__global__ void __launch_bounds__(threads) rows_of_64(const BoxMember *members) {
    const BoxMember m = members[blockIdx.x];
    auto *const to = reinterpret_cast<uint4 *>(m.to);
    const unsigned vectors = static_cast<unsigned>(m.rows) * 4;
    for (unsigned i = threadIdx.x; i < vectors; i += threads)
        to[i] = *reinterpret_cast<const uint4 *>(m.from + (i / 4) * m.row_stride + i % 4 * 16);
}

__global__ void __launch_bounds__(threads) add_rows(const BoxMember *members) {
    const BoxMember m = members[blockIdx.x];
    auto *const to = reinterpret_cast<double2 *>(m.to);
    const unsigned vectors = static_cast<unsigned>(m.rows) * 4;
    for (unsigned i = threadIdx.x; i < vectors; i += threads) {
        const double2 a =
            *reinterpret_cast<const double2 *>(m.from + (i / 4) * m.row_stride + i % 4 * 16);
        const double2 b = to[i];
        to[i] = {b.x + a.x, b.y + a.y};
    }
}

__global__ void __launch_bounds__(threads) boxes_of_doubles(const BoxMember *members) {
    const BoxMember m = members[blockIdx.x];
    auto *const to = reinterpret_cast<double *>(m.to);
    const auto row = static_cast<unsigned>(m.row) / 8, rows = static_cast<unsigned>(m.rows);
    const unsigned all = row * rows * static_cast<unsigned>(m.planes);
    for (unsigned i = threadIdx.x; i < all; i += threads) {
        const unsigned r = i / row, plane = r / rows;
        to[i] = *reinterpret_cast<const double *>(m.from + plane * m.plane_stride +
                                                  (r - plane * rows) * m.row_stride +
                                                  (i - r * row) * 8);
    }
}

__global__ void __launch_bounds__(threads) pages(const BoxMember *members) {
    const BoxMember m = members[blockIdx.x];
    const auto *const from = reinterpret_cast<const uint4 *>(m.from);
    auto *const to = reinterpret_cast<uint4 *>(m.to);
    const unsigned vectors = static_cast<unsigned>(m.row) / 16;
    for (unsigned i = threadIdx.x; i < vectors; i += threads) to[i] = from[i];
}

} // namespace

void pack_rows_of_64(const BoxMember *members, unsigned number) {
    rows_of_64<<<number, threads>>>(members);
}
void add_rows_of_64(const BoxMember *members, unsigned number) {
    add_rows<<<number, threads>>>(members);
}
void pack_boxes_of_doubles(const BoxMember *members, unsigned number) {
    boxes_of_doubles<<<number, threads>>>(members);
}
void pack_pages(const BoxMember *members, unsigned number) {
    pages<<<number, threads>>>(members);
}

} // namespace bench::gpu::hand
