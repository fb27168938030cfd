// The sizes of the measured layouts, as constants: the descriptions are built from them, and the
// hand-written loops are compiled for them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench::shapes {

struct Level {
    std::int64_t count, stride; // bytes
};

// Levels of equal steps around blocks of bytes, the outermost first.
template <std::size_t depth_>
struct Nest {
    static constexpr std::size_t depth = depth_;
    std::int64_t block;
    Level levels[depth];

    constexpr std::int64_t bytes(std::size_t from_level = 0) const {
        std::int64_t all = block;
        for (std::size_t i = from_level; i < depth; ++i) all *= levels[i].count;
        return all;
    }
};

inline constexpr std::int64_t kib = 1024, mib = 1024 * 1024;

inline constexpr std::int64_t contiguous_bytes = 64 * kib;

// Vectors.
inline constexpr Nest<1> vector_8_of_512{8, {{64 * kib / 8, 512}}};
inline constexpr Nest<1> vector_8_of_512_large{8, {{16 * mib / 8, 512}}};
inline constexpr Nest<1> vector_128_of_512{128, {{64 * kib / 128, 512}}};
inline constexpr Nest<1> vector_128_of_512_large{128, {{16 * mib / 128, 512}}};
inline constexpr Nest<1> vector_4_of_8{4, {{64 * kib / 4, 8}}};
inline constexpr Nest<1> matrix_column{8, {{2048, 2048 * 8}}};

// Faces of a cube of doubles, x adjacent in memory: the first has whole rows, the second one double
// of each row.
inline constexpr std::int64_t cube_side = 256;
inline constexpr Nest<1> face_xz{cube_side * 8, {{cube_side, cube_side *cube_side * 8}}};
inline constexpr Nest<1> face_yz{8, {{cube_side * cube_side, cube_side * 8}}};

// A hypercube of side `part` in one of doubles with side 64.
inline constexpr std::int64_t hypercube_side = 64;
constexpr Nest<3> hypercube(std::int64_t part) {
    const std::int64_t row = hypercube_side * 8;
    return {
        part * 8,
        {{part, hypercube_side * hypercube_side * row}, {part, hypercube_side * row}, {part, row}}};
}
inline constexpr Nest<3> hypercube_16 = hypercube(16);
inline constexpr Nest<3> hypercube_32 = hypercube(32);

// Lists of doubles at random places. Runs have 1 to 4 units each.
inline constexpr std::int64_t runs_bytes = 63 * kib;
inline constexpr std::int64_t singles = 64 * kib / 8;

// struct {double; int; int; char}
inline constexpr std::int64_t record_fields = 17, record_extent = 24, records = 3795;

inline constexpr std::int64_t triangle_side = 2000;
inline constexpr std::int64_t transpose_side = 1024;

// Each level leaves a gap of its own, so that no two are one.
inline constexpr Nest<4> nest_4{8, {{4, 54272}, {8, 6656}, {16, 400}, {16, 24}}};
inline constexpr Nest<5> nest_5{8, {{4, 56576}, {4, 14016}, {8, 1728}, {8, 208}, {8, 24}}};
inline constexpr Nest<5> nest_5_large{
    8, {{16, 3417088}, {16, 213504}, {32, 6656}, {16, 400}, {16, 24}}};

// MILC, the su3 vectors of both parities at one z of a lattice of 16^4: for each parity and t, half
// of the (x, y) sites lie next to each other.
inline constexpr std::int64_t lattice = 16, su3_vector = 6 * 4;
inline constexpr std::int64_t milc_sites_xy = lattice * lattice / 2;
inline constexpr Nest<2> milc_face{milc_sites_xy * su3_vector,
                                   {{2, milc_sites_xy *lattice *lattice *su3_vector},
                                    {lattice, milc_sites_xy *lattice *su3_vector}}};

// NAS LU: the five variables of each cell of a face, one cell in each row of twelve.
inline constexpr Nest<1> nas_lu_face{5 * 8, {{1613, 12 * 5 * 8}}};

// Small enough that the call itself counts.
inline constexpr Nest<1> small_contiguous{8, {{8, 8}}};
inline constexpr Nest<1> small_vector{8, {{8, 64}}};

} // namespace bench::shapes
