// The sizes of the applications' layouts, as constants.
#pragma once

#include "shapes/shapes.hpp"

namespace bench::shapes {

// MILC, as in milc_face, but of one y or one t.
inline constexpr std::int64_t milc_sites_x = lattice / 2;
inline constexpr std::int64_t milc_parity = milc_sites_xy * lattice * lattice * su3_vector;
inline constexpr Nest<2> milc_y_face{
    milc_sites_x * su3_vector, {{2, milc_parity}, {lattice * lattice, milc_sites_xy *su3_vector}}};
inline constexpr Nest<1> milc_t_face{milc_sites_xy * lattice * su3_vector, {{2, milc_parity}}};

// NAS LU: the cells of a row lie next to each other.
inline constexpr Nest<1> nas_lu_x_face{5 * 8 * 1613, {{1, 5 * 8 * 1613}}};

// NAS MG: faces of the inner cube in a cube with one ghost cell on each side.
inline constexpr std::int64_t mg_side = 130, mg_inner = 128, mg_row = mg_side * 8;
inline constexpr Nest<2> mg_x_face{8, {{mg_inner, mg_side *mg_row}, {mg_inner, mg_row}}};
inline constexpr Nest<1> mg_y_face{mg_inner * 8, {{mg_inner, mg_side *mg_row}}};
inline constexpr Nest<1> mg_z_face{mg_inner * 8, {{mg_inner, mg_row}}};

// WRF: halos three cells wide of several fields of floats, (m, j, k, i) with i adjacent.
inline constexpr std::int64_t wrf_i = 70, wrf_j = 70, wrf_k = 30, wrf_halo = 3, wrf_fields = 9;
struct WrfField {
    std::int64_t base, members, layers; // base: bytes
    constexpr std::int64_t bytes() const { return members * wrf_j * layers * wrf_i * 4; }
    constexpr Nest<3> halo(std::int64_t along_j, std::int64_t along_i) const {
        const std::int64_t row = wrf_i * 4;
        return {along_i * 4,
                {{members, wrf_j * layers * row}, {along_j, layers * row}, {layers, row}}};
    }
};
struct WrfState {
    WrfField fields[wrf_fields];
};
// Four fields of 2 dimensions, three of 3, two of 4, one behind the other.
constexpr WrfState wrf_state() {
    WrfState state{};
    std::int64_t base = 0;
    for (std::int64_t f = 0; f < wrf_fields; ++f) {
        WrfField &field = state.fields[f];
        field = {base, f < 7 ? 1 : 2, f < 4 ? 1 : wrf_k};
        base += field.bytes();
    }
    return state;
}
inline constexpr WrfState wrf = wrf_state();

// LAMMPS: some atoms of arrays, one array after the other.
inline constexpr std::int64_t atoms = 20000, atoms_sent = 3000;

// SPECFEM3D: points of a mesh, of one or three floats.
inline constexpr std::int64_t points = 60000, points_sent = 8000;

// One of four layers of values, of three floats each.
inline constexpr Nest<1> specfem_mt{3 * 4, {{points_sent, 4 * 3 * 4}}};

// A block of a matrix of complex numbers that is transposed on its way.
inline constexpr std::int64_t fft_side = 1536, fft_block = 192;

} // namespace bench::shapes
