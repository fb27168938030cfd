// The loops of a CPU for one layout each, with its numbers as constants.
#pragma once

#include "baselines/hand.hpp"

#include <cstdint>
#include <span>
#include <sys/uio.h>

namespace bench {

// A part of a packed stream: it starts `skip` bytes into a block or run.
struct Piece {
    std::int64_t first, skip, bytes;
};

using PieceLoop = void (*)(const Lists &lists, const Piece &piece, char *typed, char *packed);
using SegmentLoop = void (*)(const Lists &lists, char *typed, iovec *segments);

// What the same person would write to move parts of it, and to list its segments.
struct HandPieces {
    PieceLoop pack, unpack;
    SegmentLoop list;
};

namespace hand {

// As many loops in each other as the nest has levels: of each nest in shapes.hpp and
// app_shapes.hpp.
template <auto nest>
std::span<const HandMove> nest_loops();

std::span<const HandMove> contiguous();
std::span<const HandMove> vector_8_of_512();
std::span<const HandMove> runs_of_8();
std::span<const HandMove> runs_of_128();
std::span<const HandMove> single_doubles();
std::span<const HandMove> records();
std::span<const HandMove> triangle();
std::span<const HandMove> transpose();
// Of applications.
std::span<const HandMove> wrf_x();
std::span<const HandMove> wrf_y();
std::span<const HandMove> lammps_full();
std::span<const HandMove> lammps_atomic();
std::span<const HandMove> specfem_oc();
std::span<const HandMove> specfem_cm();
std::span<const HandMove> fft2d();

HandPieces vector_8_of_512_large_pieces();
HandPieces vector_128_of_512_large_pieces();
HandPieces hypercube_32_pieces();
HandPieces runs_of_8_pieces();
HandPieces triangle_pieces();

} // namespace hand
} // namespace bench
