// What a process does with its part of the stencil's grid by itself, written by hand.
#pragma once

namespace bench {

// The part has n by n points and a border of one point around them: rows are n + 2 points apart.
// A GPU's start kernels in the null stream.
template <class T>
struct StencilKernels {
    // The points of out, from those of in; the border stays.
    void (*step)(T *out, const T *in, int n);
    // The first and the last column of points, with the borders' points above and below, into
    // contiguous buffers of n + 2; and such buffers into the border's columns. Null: not that one.
    void (*pack_columns)(T *west, T *east, const T *part, int n);
    void (*unpack_columns)(T *part, const T *west, const T *east, int n);
};

template <class T>
StencilKernels<T> host_stencil();
template <class T>
StencilKernels<T> gpu_stencil();

} // namespace bench
