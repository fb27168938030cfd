#include "vendor.hpp"

#include "baselines/gpu/copies.hpp"

#include <cstdint>

namespace bench::gpu::hand {
namespace {

constexpr unsigned threads = 256;

// Tiles of 32 x 32 through shared memory.
template <unsigned side>
__global__ void __launch_bounds__(threads) transpose(const double *from, double *to) {
    constexpr unsigned tile = 32;
    __shared__ double held[tile][tile + 1];
    const unsigned x = threadIdx.x % tile, y = threadIdx.x / tile;
    const unsigned column = blockIdx.x * tile, row = blockIdx.y * tile;
#pragma unroll
    for (unsigned i = 0; i < tile; i += threads / tile)
        held[y + i][x] = from[(row + y + i) * side + column + x];
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < tile; i += threads / tile)
        to[(column + y + i) * side + row + x] = held[x][y + i];
}

// 16 bytes a thread.
template <unsigned element, unsigned part, unsigned from_side, unsigned to_side>
__global__ void __launch_bounds__(threads) box_to_box(const uint4 *from, uint4 *to) {
    constexpr unsigned row = part * element / 16, in_row = from_side * element / 16,
                       out_row = to_side * element / 16;
    const unsigned i = blockIdx.x * threads + threadIdx.x;
    const unsigned x = i % row, y = i / row % part, z = i / row / part;
    to[(z * to_side + y) * out_row + x] = from[(z * from_side + y) * in_row + x];
}

template <class Word, unsigned in_block, unsigned in_stride, unsigned out_block,
          unsigned out_stride>
__global__ void __launch_bounds__(threads) blocks(const char *from, char *to) {
    const std::uint64_t at = (std::uint64_t{blockIdx.x} * threads + threadIdx.x) * sizeof(Word);
    *reinterpret_cast<Word *>(to + at / out_block * out_stride + at % out_block) =
        *reinterpret_cast<const Word *>(from + at / in_block * in_stride + at % in_block);
}

} // namespace

void copy_transposed_4096(char *from, char *to) {
    transpose<4096><<<dim3(128, 128), threads>>>(reinterpret_cast<const double *>(from),
                                                 reinterpret_cast<double *>(to));
}
void copy_box_to_box(char *from, char *to) {
    box_to_box<8, 128, 512, 256><<<128 * 128 * 64 / threads, threads>>>(
        reinterpret_cast<const uint4 *>(from), reinterpret_cast<uint4 *>(to));
}
void copy_small_box_to_box(char *from, char *to) {
    box_to_box<4, 64, 128, 96><<<64 * 64 * 16 / threads, threads>>>(
        reinterpret_cast<const uint4 *>(from), reinterpret_cast<uint4 *>(to));
}
void copy_blocks_8_to_128(char *from, char *to) {
    blocks<double, 8, 512, 128, 512><<<copied_blocks_bytes / 8 / threads, threads>>>(from, to);
}
void copy_blocks_128_to_128(char *from, char *to) {
    blocks<uint4, 128, 512, 128, 1024><<<copied_blocks_bytes / 16 / threads, threads>>>(from, to);
}

} // namespace bench::gpu::hand
