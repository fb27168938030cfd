#include "baselines/stencil.hpp"
#include "baselines/nine_points.hpp"

#include <cstddef>

namespace bench {
namespace {

template <class T>
void step(T *out, const T *in, int n) {
    const std::ptrdiff_t pitch = n + 2;
    for (std::ptrdiff_t row = 1; row <= n; ++row)
        for (std::ptrdiff_t column = 1; column <= n; ++column)
            out[row * pitch + column] = nine_points(in + row * pitch + column, pitch);
}

template <class T>
void pack_columns(T *west, T *east, const T *part, int n) {
    const std::ptrdiff_t pitch = n + 2;
    for (std::ptrdiff_t row = 0; row < pitch; ++row) {
        if (west != nullptr) west[row] = part[row * pitch + 1];
        if (east != nullptr) east[row] = part[row * pitch + n];
    }
}

template <class T>
void unpack_columns(T *part, const T *west, const T *east, int n) {
    const std::ptrdiff_t pitch = n + 2;
    for (std::ptrdiff_t row = 0; row < pitch; ++row) {
        if (west != nullptr) part[row * pitch] = west[row];
        if (east != nullptr) part[row * pitch + n + 1] = east[row];
    }
}

} // namespace

template <class T>
StencilKernels<T> host_stencil() {
    return {step<T>, pack_columns<T>, unpack_columns<T>};
}
template StencilKernels<float> host_stencil<float>();
template StencilKernels<double> host_stencil<double>();

} // namespace bench
