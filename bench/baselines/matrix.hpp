// Matrices of doubles moved to and from packed buffers, by code for each kind of matrix.
#pragma once

#include <cstdint>

namespace bench {

enum class MatrixKind {
    contiguous,
    rows,     // n rows of n in a matrix with longer ones
    triangle, // the lower one of n rows of n
    pieces,   // about n * n doubles, in pieces of 1 to 31 with gaps of 1 to 15 between
    columns,  // n columns of n rows of n, one after another
};

// A piece of doubles: its places in the layout and in the packed stream.
struct Piece {
    std::uint32_t at, packed, count;
};

struct MatrixMove {
    MatrixKind kind;
    std::int64_t n, row_length, doubles; // from row to row; all of them
    const Piece *pieces;                 // in the same memory as the data
    std::uint32_t piece_count;
    double *typed, *packed;
};

// A GPU's start kernels in the null stream.
struct MatrixMoves {
    void (*pack)(const MatrixMove &move);
    void (*unpack)(const MatrixMove &move);
};

MatrixMoves host_matrix();
MatrixMoves gpu_matrix();

} // namespace bench
