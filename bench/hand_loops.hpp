// The loops that somebody would write for one layout, who knows it when compiling: the yardstick.
// Where it is not obvious which of several ways is the fastest, each is here, under a name.
#pragma once

#include <cstdint>
#include <span>
#include <sys/uio.h>
#include <vector>

namespace bench {

// What is only known when running: where runs of elements lie, and how many each has.
struct Lists {
    std::vector<std::int32_t> displs, lengths;
};

using MoveLoop = void (*)(const Lists &lists, char *laid_out, char *packed);

struct HandLoop {
    const char *way;
    MoveLoop pack, unpack;
};

// A part of a packed stream: it starts `skip` bytes into a block or run.
struct Piece {
    std::int64_t first, skip, bytes;
};

using PieceLoop = void (*)(const Lists &lists, const Piece &piece, char *laid_out, char *packed);
using SegmentLoop = void (*)(const Lists &lists, char *laid_out, iovec *segments);

// What the same person would write to move parts of it, and to list its segments.
struct HandPieces {
    PieceLoop pack, unpack;
    SegmentLoop list;
};

namespace hand {

std::span<const HandLoop> contiguous();
std::span<const HandLoop> vector_8_of_512();
std::span<const HandLoop> vector_8_of_512_large();
std::span<const HandLoop> vector_128_of_512();
std::span<const HandLoop> vector_128_of_512_large();
std::span<const HandLoop> vector_4_of_8();
std::span<const HandLoop> matrix_column();
std::span<const HandLoop> face_xz();
std::span<const HandLoop> face_yz();
std::span<const HandLoop> hypercube_16();
std::span<const HandLoop> hypercube_32();
std::span<const HandLoop> runs_of_8();
std::span<const HandLoop> runs_of_128();
std::span<const HandLoop> single_doubles();
std::span<const HandLoop> records();
std::span<const HandLoop> triangle();
std::span<const HandLoop> transpose();
std::span<const HandLoop> nest_4();
std::span<const HandLoop> nest_5();
std::span<const HandLoop> milc_face();
std::span<const HandLoop> nas_lu_face();
// Of applications.
std::span<const HandLoop> milc_y_face();
std::span<const HandLoop> milc_t_face();
std::span<const HandLoop> nas_lu_x_face();
std::span<const HandLoop> mg_x_face();
std::span<const HandLoop> mg_y_face();
std::span<const HandLoop> mg_z_face();
std::span<const HandLoop> wrf_x();
std::span<const HandLoop> wrf_y();
std::span<const HandLoop> lammps_full();
std::span<const HandLoop> lammps_atomic();
std::span<const HandLoop> specfem_oc();
std::span<const HandLoop> specfem_cm();
std::span<const HandLoop> specfem_mt();
std::span<const HandLoop> fft2d();

std::span<const HandLoop> small_contiguous();
std::span<const HandLoop> small_vector();

HandPieces vector_8_of_512_large_pieces();
HandPieces vector_128_of_512_large_pieces();
HandPieces hypercube_32_pieces();
HandPieces runs_of_8_pieces();
HandPieces triangle_pieces();

} // namespace hand
} // namespace bench
