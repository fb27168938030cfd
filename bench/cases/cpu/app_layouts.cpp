// What applications send, built with the constructors that they use.
#include "cases/layouts.hpp"
#include "shapes/app_shapes.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace bench::cpu {
namespace {

using namespace shapes;

// So many different places below `from`, in ascending order; the same ones in every run.
std::vector<std::int32_t> sample(std::int64_t count, std::int64_t from, unsigned seed) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(from)), chosen;
    std::iota(all.begin(), all.end(), 0);
    std::sample(all.begin(), all.end(), std::back_inserter(chosen), count, std::mt19937_64(seed));
    return chosen;
}

RecipePtr at(std::vector<std::int32_t>::const_iterator displs, std::int64_t count, RecipePtr unit) {
    return recipe(IndexedBlock{1, Ints(displs, displs + count), std::move(unit)});
}

Layout mg_face(std::string name, Ints subsizes, std::span<const HandMove> hand) {
    return {.name = std::move(name),
            .type = recipe(Subarray{Ints(3, mg_side), std::move(subsizes), Ints(3, 0), doubles()}),
            .hand = hand};
}

// A subarray of each field.
Layout wrf_halos(std::string name, std::int64_t along_j, std::int64_t along_i,
                 std::span<const HandMove> hand) {
    Struct all;
    for (const WrfField &field : wrf.fields) {
        all.blocklengths.push_back(1);
        all.displs.push_back(field.base);
        all.types.push_back(recipe(Subarray{{field.members, wrf_j, field.layers, wrf_i},
                                            {field.members, along_j, field.layers, along_i},
                                            Ints(4, 0),
                                            predefined(Element::float32)}));
    }
    return {.name = std::move(name), .type = recipe(std::move(all)), .hand = hand};
}

Layout lammps(std::string name, bool full, std::span<const HandMove> hand) {
    ListData lists{.displs = sample(atoms_sent, atoms, 1), .lengths = {}};
    const RecipePtr integer = predefined(Element::int32);
    std::vector<RecipePtr> arrays{recipe(Contig{3, doubles()}), integer, integer, integer};
    if (full) arrays.insert(arrays.end(), {integer, doubles()});
    Struct all;
    std::int64_t base = 0;
    for (const RecipePtr &unit : arrays) {
        all.blocklengths.push_back(1);
        all.displs.push_back(base);
        all.types.push_back(at(lists.displs.begin(), atoms_sent, unit));
        base += atoms * bounds_of(*unit).extent;
    }
    return {.name = std::move(name),
            .type = recipe(std::move(all)),
            .hand = hand,
            .lists = std::move(lists)};
}

Layout specfem_oc() {
    ListData lists{.displs = sample(points_sent, points, 2), .lengths = {}};
    RecipePtr type = at(lists.displs.begin(), points_sent, predefined(Element::float32));
    return {.name = "SPECFEM3D oc",
            .type = std::move(type),
            .hand = hand::specfem_oc(),
            .lists = std::move(lists)};
}

// Points of the crust and mantle, and those of the inner core.
Layout specfem_cm() {
    constexpr std::int64_t half = points_sent / 2;
    ListData lists{.displs = sample(half, points, 3), .lengths = {}};
    const std::vector<std::int32_t> core = sample(half, points, 4);
    lists.displs.insert(lists.displs.end(), core.begin(), core.end());
    const RecipePtr point = recipe(Contig{3, predefined(Element::float32)});
    const auto places = lists.displs.begin();
    RecipePtr type = recipe(Struct{
        {1, 1}, {0, points * 12}, {at(places, half, point), at(places + half, half, point)}});
    return {.name = "SPECFEM3D cm",
            .type = std::move(type),
            .hand = hand::specfem_cm(),
            .lists = std::move(lists)};
}

Layout fft2d() {
    const RecipePtr column = recipe(Vector{fft_block, 1, fft_side, recipe(Contig{2, doubles()})});
    return {.name = "FFT2D, transposed block",
            .type = recipe(HVector{fft_block, 1, 16, recipe(Resized{0, 16, column})}),
            .hand = hand::fft2d()};
}

} // namespace

std::vector<Layout> app_layouts() {
    return {
        nest_layout("MILC su3 y face", milc_y_face, hand::nest_loops<milc_y_face>(),
                    predefined(Element::float32)),
        nest_layout("MILC su3 t face", milc_t_face, hand::nest_loops<milc_t_face>(),
                    predefined(Element::float32)),
        nest_layout("NAS LU x face", nas_lu_x_face, hand::nest_loops<nas_lu_x_face>(),
                    predefined(Element::float64)),
        mg_face("NAS MG x face", {mg_inner, mg_inner, 1}, hand::nest_loops<mg_x_face>()),
        mg_face("NAS MG y face", {mg_inner, 1, mg_inner}, hand::nest_loops<mg_y_face>()),
        mg_face("NAS MG z face", {1, mg_inner, mg_inner}, hand::nest_loops<mg_z_face>()),
        wrf_halos("WRF x halo, 9 fields", wrf_j, wrf_halo, hand::wrf_x()),
        wrf_halos("WRF y halo, 9 fields", wrf_halo, wrf_i, hand::wrf_y()),
        lammps("LAMMPS full", true, hand::lammps_full()),
        lammps("LAMMPS atomic", false, hand::lammps_atomic()),
        specfem_oc(),
        specfem_cm(),
        nest_layout("SPECFEM3D mt", specfem_mt, hand::nest_loops<specfem_mt>(),
                    predefined(Element::float32)),
        fft2d(),
    };
}

} // namespace bench::cpu
