// Copies of matrices to and from packed buffers, written by hand for each layout.
#pragma once

#include "apps/matrix.hpp"

namespace bench::apps {

// Pieces: the matrix's list, in the same memory as the data.
struct HandMove {
    const Matrix &matrix;
    double *laid_out, *packed;
    const Piece *pieces;
};

// With a GPU these start kernels in the null stream.
struct MatrixKernels {
    void (*pack)(const HandMove &move);
    void (*unpack)(const HandMove &move);
};

MatrixKernels host_matrix();
MatrixKernels cuda_matrix();

} // namespace bench::apps
