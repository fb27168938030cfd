// The loops by hand for what applications send.
#include "app_shapes.hpp"
#include "hand_nest.hpp"

#include <utility>

namespace bench::hand {
namespace {

using namespace shapes;

template <std::size_t field, std::int64_t along_j, std::int64_t along_i, To to>
[[gnu::always_inline]] inline void move_field(char *laid_out, char *&packed) {
    constexpr Nest<3> halo = wrf.fields[field].halo(along_j, along_i);
    loops<halo, to>(laid_out + wrf.fields[field].base, packed);
    packed += halo.bytes();
}

template <std::int64_t along_j, std::int64_t along_i, To to>
void move_wrf(const Lists &, char *laid_out, char *packed) {
    [&]<std::size_t... field>(std::index_sequence<field...>) {
        (move_field<field, along_j, along_i, to>(laid_out, packed), ...);
    }
    (std::make_index_sequence<wrf_fields>());
}

// Blocks of one size, at `count` places of the list.
template <std::int64_t block, To to>
[[gnu::always_inline]] inline void gather(const std::int32_t *displs, std::int64_t count,
                                          char *__restrict laid_out, char *__restrict packed) {
    for (std::int64_t i = 0; i < count; ++i)
        copy<to, block>(laid_out + displs[i] * block, packed + i * block);
}

// An array for each of the sizes, one behind the other.
template <To to, std::int64_t... block>
void move_atoms(const Lists &lists, char *laid_out, char *packed) {
    const auto array = [&]<std::int64_t bytes>(std::integral_constant<std::int64_t, bytes>) {
        gather<bytes, to>(lists.displs.data(), atoms_sent, laid_out, packed);
        laid_out += atoms * bytes;
        packed += atoms_sent * bytes;
    };
    (array(std::integral_constant<std::int64_t, block>()), ...);
}

template <To to>
void move_oc(const Lists &lists, char *laid_out, char *packed) {
    gather<4, to>(lists.displs.data(), points_sent, laid_out, packed);
}

// The second half of the list is about a second array.
template <To to>
void move_cm(const Lists &lists, char *laid_out, char *packed) {
    constexpr std::int64_t half = points_sent / 2;
    gather<12, to>(lists.displs.data(), half, laid_out, packed);
    gather<12, to>(lists.displs.data() + half, half, laid_out + points * 12, packed + half * 12);
}

// In tiles of a cache line each way; tiles of the whole block are plain loops.
template <To to, std::int64_t tile>
void move_fft(const Lists &, char *__restrict laid_out, char *__restrict packed) {
    constexpr std::int64_t n = fft_block;
    static_assert(n % tile == 0);
    for (std::int64_t i = 0; i < n; i += tile)
        for (std::int64_t j = 0; j < n; j += tile)
#pragma GCC unroll 1
            for (std::int64_t a = i; a < i + tile; ++a)
                for (std::int64_t b = j; b < j + tile; ++b)
                    copy<to, 16>(laid_out + (b * fft_side + a) * 16, packed + (a * n + b) * 16);
}

} // namespace

std::span<const HandLoop> milc_y_face() {
    return nest_loops<shapes::milc_y_face>();
}
std::span<const HandLoop> milc_t_face() {
    return nest_loops<shapes::milc_t_face>();
}
std::span<const HandLoop> nas_lu_x_face() {
    return nest_loops<shapes::nas_lu_x_face>();
}
std::span<const HandLoop> mg_x_face() {
    return nest_loops<shapes::mg_x_face>();
}
std::span<const HandLoop> mg_y_face() {
    return nest_loops<shapes::mg_y_face>();
}
std::span<const HandLoop> mg_z_face() {
    return nest_loops<shapes::mg_z_face>();
}

std::span<const HandLoop> wrf_x() {
    static constexpr HandLoop ways[] = {
        {"loop", move_wrf<wrf_j, wrf_halo, To::packed>, move_wrf<wrf_j, wrf_halo, To::laid_out>}};
    return ways;
}
std::span<const HandLoop> wrf_y() {
    static constexpr HandLoop ways[] = {
        {"loop", move_wrf<wrf_halo, wrf_i, To::packed>, move_wrf<wrf_halo, wrf_i, To::laid_out>}};
    return ways;
}

std::span<const HandLoop> lammps_full() {
    static constexpr HandLoop ways[] = {{"loop", move_atoms<To::packed, 24, 4, 4, 4, 4, 8>,
                                         move_atoms<To::laid_out, 24, 4, 4, 4, 4, 8>}};
    return ways;
}
std::span<const HandLoop> lammps_atomic() {
    static constexpr HandLoop ways[] = {
        {"loop", move_atoms<To::packed, 24, 4, 4, 4>, move_atoms<To::laid_out, 24, 4, 4, 4>}};
    return ways;
}

std::span<const HandLoop> specfem_oc() {
    static constexpr HandLoop ways[] = {{"loop", move_oc<To::packed>, move_oc<To::laid_out>}};
    return ways;
}
std::span<const HandLoop> specfem_cm() {
    static constexpr HandLoop ways[] = {{"loop", move_cm<To::packed>, move_cm<To::laid_out>}};
    return ways;
}

std::span<const HandLoop> specfem_mt() {
    return nest_loops<shapes::specfem_mt>();
}

std::span<const HandLoop> fft2d() {
    static constexpr HandLoop ways[] = {
        {"loop", move_fft<To::packed, fft_block>, move_fft<To::laid_out, fft_block>},
        {"tiles", move_fft<To::packed, 4>, move_fft<To::laid_out, 4>}};
    return ways;
}

} // namespace bench::hand
