#include "vendor.hpp"

#include "baselines/nine_points.hpp"
#include "baselines/stencil.hpp"

namespace bench {
namespace {

constexpr unsigned width = 64, height = 4, rows_each = 4, threads = 256;

template <class T>
__global__ void __launch_bounds__(width *height) step_points(T *out, const T *in, int n) {
    const std::ptrdiff_t pitch = n + 2;
    const int column = static_cast<int>(blockIdx.x * width + threadIdx.x) + 1;
    const int first = static_cast<int>((blockIdx.y * height + threadIdx.y) * rows_each) + 1;
    if (column > n) return;
#pragma unroll
    for (int i = 0; i < static_cast<int>(rows_each); ++i)
        if (first + i <= n) {
            const std::ptrdiff_t at = (first + i) * pitch + column;
            out[at] = nine_points(in + at, pitch);
        }
}

template <class T>
__global__ void __launch_bounds__(threads) pack_both(T *west, T *east, const T *part, int n) {
    const std::ptrdiff_t pitch = n + 2;
    const int row = static_cast<int>(blockIdx.x * threads + threadIdx.x);
    if (row >= pitch) return;
    if (west != nullptr) west[row] = part[row * pitch + 1];
    if (east != nullptr) east[row] = part[row * pitch + n];
}

template <class T>
__global__ void __launch_bounds__(threads)
    unpack_both(T *part, const T *west, const T *east, int n) {
    const std::ptrdiff_t pitch = n + 2;
    const int row = static_cast<int>(blockIdx.x * threads + threadIdx.x);
    if (row >= pitch) return;
    if (west != nullptr) part[row * pitch] = west[row];
    if (east != nullptr) part[row * pitch + n + 1] = east[row];
}

unsigned blocks_of(int count, unsigned each) {
    return (static_cast<unsigned>(count) + each - 1) / each;
}

template <class T>
void step(T *out, const T *in, int n) {
    const dim3 blocks(blocks_of(n, width), blocks_of(n, height * rows_each));
    step_points<<<blocks, dim3(width, height)>>>(out, in, n);
}

template <class T>
void pack_columns(T *west, T *east, const T *part, int n) {
    pack_both<<<blocks_of(n + 2, threads), threads>>>(west, east, part, n);
}

template <class T>
void unpack_columns(T *part, const T *west, const T *east, int n) {
    unpack_both<<<blocks_of(n + 2, threads), threads>>>(part, west, east, n);
}

} // namespace

template <class T>
StencilKernels<T> gpu_stencil() {
    return {step<T>, pack_columns<T>, unpack_columns<T>};
}
template StencilKernels<float> gpu_stencil<float>();
template StencilKernels<double> gpu_stencil<double>();

} // namespace bench
