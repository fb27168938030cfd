#include "vendor.hpp"

#include "baselines/gpu/nest_words.cuh"
#include "baselines/gpu/rows.hpp"

#include <algorithm>

namespace bench::gpu::hand {
namespace {

constexpr unsigned threads = 256, each = 4;

template <unsigned width>
__global__ void __launch_bounds__(threads)
    copy_row_words(Rows rows, std::uint32_t in_row, std::uint32_t words) {
    const std::uint32_t step = gridDim.x * threads;
    for (std::uint64_t first = blockIdx.x * threads + threadIdx.x; first < words;
         first += std::uint64_t{step} * each) {
        Word<width> held[each];
        char *to[each];
#pragma unroll
        for (unsigned k = 0; k < each; ++k) {
            const std::uint64_t at = first + std::uint64_t{k} * step;
            to[k] = nullptr;
            if (at >= words) continue;
            const std::uint32_t row = static_cast<std::uint32_t>(at) / in_row;
            const std::uint32_t in = (static_cast<std::uint32_t>(at) - row * in_row) * width;
            held[k] =
                *reinterpret_cast<const Word<width> *>(rows.from + row * rows.from_pitch + in);
            to[k] = rows.to + row * rows.to_pitch + in;
        }
#pragma unroll
        for (unsigned k = 0; k < each; ++k)
            if (to[k] != nullptr) *reinterpret_cast<Word<width> *>(to[k]) = held[k];
    }
}

template <unsigned width>
void start(const Rows &rows, unsigned blocks, gpuStream_t stream) {
    const auto in_row = static_cast<std::uint32_t>(rows.width / width);
    const auto words = static_cast<std::uint32_t>(rows.bytes() / width);
    const unsigned all = (words + threads * each - 1) / (threads * each);
    copy_row_words<width>
        <<<blocks == 0 ? all : std::min(blocks, all), threads, 0, stream>>>(rows, in_row, words);
}

} // namespace

void copy_rows(const Rows &rows, unsigned blocks, gpuStream_t stream) {
    const auto bits = reinterpret_cast<std::uintptr_t>(rows.to) |
                      reinterpret_cast<std::uintptr_t>(rows.from) |
                      static_cast<std::uintptr_t>(rows.to_pitch | rows.from_pitch | rows.width);
    if (bits % 16 == 0)
        start<16>(rows, blocks, stream);
    else if (bits % 8 == 0)
        start<8>(rows, blocks, stream);
    else if (bits % 4 == 0)
        start<4>(rows, blocks, stream);
    else
        start<1>(rows, blocks, stream);
}

} // namespace bench::gpu::hand
