// The loops by hand for what applications send.
#include "baselines/cpu/nest.hpp"
#include "shapes/app_shapes.hpp"

#include <utility>

namespace bench::hand {
namespace {

using namespace shapes;

template <std::size_t field, std::int64_t along_j, std::int64_t along_i, To to>
[[gnu::always_inline]] inline void move_field(char *typed, char *&packed) {
    constexpr Nest<3> halo = wrf.fields[field].halo(along_j, along_i);
    loops<halo, to>(typed + wrf.fields[field].base, packed);
    packed += halo.bytes();
}

template <std::int64_t along_j, std::int64_t along_i, To to>
void move_wrf(const Lists &, char *typed, char *packed) {
    [&]<std::size_t... field>(std::index_sequence<field...>) {
        (move_field<field, along_j, along_i, to>(typed, packed), ...);
    }
    (std::make_index_sequence<wrf_fields>());
}

// Blocks of one size, at `count` places of the list.
template <std::int64_t block, To to>
[[gnu::always_inline]] inline void gather(const std::int32_t *displs, std::int64_t count,
                                          char *__restrict typed, char *__restrict packed) {
    for (std::int64_t i = 0; i < count; ++i)
        copy<to, block>(typed + displs[i] * block, packed + i * block);
}

// An array for each of the sizes, one behind the other.
template <To to, std::int64_t... block>
void move_atoms(const Lists &lists, char *typed, char *packed) {
    const auto array = [&]<std::int64_t bytes>(std::integral_constant<std::int64_t, bytes>) {
        gather<bytes, to>(lists.displs, atoms_sent, typed, packed);
        typed += atoms * bytes;
        packed += atoms_sent * bytes;
    };
    (array(std::integral_constant<std::int64_t, block>()), ...);
}

template <To to>
void move_oc(const Lists &lists, char *typed, char *packed) {
    gather<4, to>(lists.displs, points_sent, typed, packed);
}

// The second half of the list is about a second array.
template <To to>
void move_cm(const Lists &lists, char *typed, char *packed) {
    constexpr std::int64_t half = points_sent / 2;
    gather<12, to>(lists.displs, half, typed, packed);
    gather<12, to>(lists.displs + half, half, typed + points * 12, packed + half * 12);
}

// In tiles of a cache line each way; tiles of the whole block are plain loops.
template <To to, std::int64_t tile>
void move_fft(const Lists &, char *__restrict typed, char *__restrict packed) {
    constexpr std::int64_t n = fft_block;
    static_assert(n % tile == 0);
    for (std::int64_t i = 0; i < n; i += tile)
        for (std::int64_t j = 0; j < n; j += tile)
#pragma GCC unroll 1
            for (std::int64_t a = i; a < i + tile; ++a)
                for (std::int64_t b = j; b < j + tile; ++b)
                    copy<to, 16>(typed + (b * fft_side + a) * 16, packed + (a * n + b) * 16);
}

constexpr LayoutLoops table[] = {
    {"MILC su3 y face", {nest_loop<milc_y_face>}},
    {"MILC su3 t face", {nest_loop<milc_t_face>}},
    {"NAS LU x face", {nest_loop<nas_lu_x_face>}},
    {"NAS MG x face", {nest_loop<mg_x_face>}},
    {"NAS MG y face", {nest_loop<mg_y_face>}},
    {"NAS MG z face", {nest_loop<mg_z_face>}},
    {"WRF x halo, 9 fields",
     {{"loop", move_wrf<wrf_j, wrf_halo, To::packed>, move_wrf<wrf_j, wrf_halo, To::typed>}}},
    {"WRF y halo, 9 fields",
     {{"loop", move_wrf<wrf_halo, wrf_i, To::packed>, move_wrf<wrf_halo, wrf_i, To::typed>}}},
    {"LAMMPS full",
     {{"loop", move_atoms<To::packed, 24, 4, 4, 4, 4, 8>,
       move_atoms<To::typed, 24, 4, 4, 4, 4, 8>}}},
    {"LAMMPS atomic",
     {{"loop", move_atoms<To::packed, 24, 4, 4, 4>, move_atoms<To::typed, 24, 4, 4, 4>}}},
    {"SPECFEM3D oc", {{"loop", move_oc<To::packed>, move_oc<To::typed>}}},
    {"SPECFEM3D cm", {{"loop", move_cm<To::packed>, move_cm<To::typed>}}},
    {"SPECFEM3D mt", {nest_loop<specfem_mt>}},
    {"FFT2D, transposed block",
     {{"loop", move_fft<To::packed, fft_block>, move_fft<To::typed, fft_block>},
      {"tiles", move_fft<To::packed, 4>, move_fft<To::typed, 4>}}},
};

} // namespace

std::span<const HandMove> app_loops_for(std::string_view layout) {
    return find_loops(table, layout);
}

} // namespace bench::hand
