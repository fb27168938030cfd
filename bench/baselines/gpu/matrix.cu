#include "vendor.hpp"

#include "baselines/matrix.hpp"

namespace bench {
namespace {

constexpr unsigned threads = 256, tile = 32, tile_rows = 8, group = 32;

template <bool pack, class Word>
__device__ void move_word(Word *typed, Word *packed) {
    if (pack)
        *packed = *typed;
    else
        *typed = *packed;
}

// Words of 16 bytes, a thread for each.
template <bool pack>
__global__ void __launch_bounds__(threads)
    move_rows(double2 *typed, double2 *packed, std::int64_t row_words, std::int64_t row_step) {
    const std::int64_t row = blockIdx.y, i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < row_words) move_word<pack>(typed + row * row_step + i, packed + row * row_words + i);
}
// The same of any n.
template <bool pack>
__global__ void __launch_bounds__(threads)
    move_odd_rows(double *typed, double *packed, std::int64_t n, std::int64_t row_step) {
    const std::int64_t row = blockIdx.y, i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < n) move_word<pack>(typed + row * row_step + i, packed + row * n + i);
}

// A block takes a short row and the long one that makes up for it.
template <bool pack>
__global__ void __launch_bounds__(threads)
    move_triangle(double *typed, double *packed, std::int64_t n) {
    const std::int64_t rows[] = {blockIdx.x, n - 1 - blockIdx.x};
    for (unsigned half = 0; half < (rows[0] == rows[1] ? 1 : 2); ++half) {
        const std::int64_t row = rows[half];
        double *from = typed + row * n, *to = packed + row * (row + 1) / 2;
#pragma unroll 4
        for (std::int64_t i = threadIdx.x; i <= row; i += threads)
            move_word<pack>(from + i, to + i);
    }
}

// A group of threads for each piece, which is never longer than the group is.
template <bool pack>
__global__ void __launch_bounds__(threads)
    move_pieces(double *typed, double *packed, const Piece *pieces, std::uint32_t count) {
    const std::uint32_t at = blockIdx.x * (threads / group) + threadIdx.x / group,
                        lane = threadIdx.x % group;
    if (at >= count) return;
    const Piece piece = pieces[at];
    if (lane < piece.count) move_word<pack>(typed + piece.at + lane, packed + piece.packed + lane);
}

template <bool pack>
__global__ void __launch_bounds__(tile *tile_rows)
    move_columns(double *typed, double *packed, std::int64_t n) {
    __shared__ double block[tile][tile + 1];
    // Rows of what is read are columns of what is written.
    const double *from = pack ? typed : packed;
    double *to = pack ? packed : typed;
    const std::int64_t x = std::int64_t{blockIdx.x} * tile, y = std::int64_t{blockIdx.y} * tile;
#pragma unroll
    for (unsigned i = threadIdx.y; i < tile; i += tile_rows)
        if (y + i < n && x + threadIdx.x < n)
            block[i][threadIdx.x] = from[(y + i) * n + x + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (unsigned i = threadIdx.y; i < tile; i += tile_rows)
        if (x + i < n && y + threadIdx.x < n)
            to[(x + i) * n + y + threadIdx.x] = block[threadIdx.x][i];
}

unsigned blocks_of(std::int64_t count, unsigned each) {
    return static_cast<unsigned>((count + each - 1) / each);
}

template <bool pack>
void start_rows(double *typed, double *packed, std::int64_t rows, std::int64_t n,
                std::int64_t row_step) {
    const auto y = static_cast<unsigned>(rows);
    if (n % 2 == 0 && row_step % 2 == 0)
        move_rows<pack><<<dim3(blocks_of(n / 2, threads), y), threads>>>(
            reinterpret_cast<double2 *>(typed), reinterpret_cast<double2 *>(packed), n / 2,
            row_step / 2);
    else
        move_odd_rows<pack>
            <<<dim3(blocks_of(n, threads), y), threads>>>(typed, packed, n, row_step);
}

template <bool pack>
void start(const MatrixMove &m) {
    const std::int64_t n = m.n;
    switch (m.kind) {
    case MatrixKind::contiguous:
        start_rows<pack>(m.typed, m.packed, 1, m.doubles, m.doubles);
        break;
    case MatrixKind::rows: start_rows<pack>(m.typed, m.packed, n, n, m.row_length); break;
    case MatrixKind::triangle:
        move_triangle<pack><<<blocks_of(n, 2), threads>>>(m.typed, m.packed, n);
        break;
    case MatrixKind::pieces:
        move_pieces<pack><<<blocks_of(m.piece_count, threads / group), threads>>>(
            m.typed, m.packed, m.pieces, m.piece_count);
        break;
    case MatrixKind::columns:
        move_columns<pack><<<dim3(blocks_of(n, tile), blocks_of(n, tile)), dim3(tile, tile_rows)>>>(
            m.typed, m.packed, n);
        break;
    }
}

} // namespace

MatrixMoves gpu_matrix() {
    return {start<true>, start<false>};
}

} // namespace bench
