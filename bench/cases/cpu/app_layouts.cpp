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

RecipePtr mg_face(Ints subsizes) {
    return recipe(Subarray{Ints(3, mg_side), std::move(subsizes), Ints(3, 0), doubles()});
}

// A subarray of each field.
RecipePtr wrf_halos(std::int64_t along_j, std::int64_t along_i) {
    Struct all;
    for (const WrfField &field : wrf.fields) {
        all.blocklengths.push_back(1);
        all.displs.push_back(field.base);
        all.types.push_back(recipe(Subarray{{field.members, wrf_j, field.layers, wrf_i},
                                            {field.members, along_j, field.layers, along_i},
                                            Ints(4, 0),
                                            predefined(Element::float32)}));
    }
    return recipe(std::move(all));
}

Layout lammps(std::string name, bool full) {
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
    return {.name = std::move(name), .type = recipe(std::move(all)), .lists = std::move(lists)};
}

Layout specfem_oc() {
    ListData lists{.displs = sample(points_sent, points, 2), .lengths = {}};
    RecipePtr type = at(lists.displs.begin(), points_sent, predefined(Element::float32));
    return {.name = "SPECFEM3D oc", .type = std::move(type), .lists = std::move(lists)};
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
    return {.name = "SPECFEM3D cm", .type = std::move(type), .lists = std::move(lists)};
}

RecipePtr fft2d() {
    const RecipePtr column = recipe(Vector{fft_block, 1, fft_side, recipe(Contig{2, doubles()})});
    return recipe(HVector{fft_block, 1, 16, recipe(Resized{0, 16, column})});
}

} // namespace

std::vector<Layout> app_layouts() {
    const RecipePtr number = predefined(Element::float32);
    std::vector<Layout> layouts{
        nest_layout("MILC su3 y face", milc_y_face, {}, number),
        nest_layout("MILC su3 t face", milc_t_face, {}, number),
        nest_layout("NAS LU x face", nas_lu_x_face),
        {"NAS MG x face", mg_face({mg_inner, mg_inner, 1})},
        {"NAS MG y face", mg_face({mg_inner, 1, mg_inner})},
        {"NAS MG z face", mg_face({1, mg_inner, mg_inner})},
        {"WRF x halo, 9 fields", wrf_halos(wrf_j, wrf_halo)},
        {"WRF y halo, 9 fields", wrf_halos(wrf_halo, wrf_i)},
        lammps("LAMMPS full", true),
        lammps("LAMMPS atomic", false),
        specfem_oc(),
        specfem_cm(),
        nest_layout("SPECFEM3D mt", specfem_mt, {}, number),
        {"FFT2D, transposed block", fft2d()},
    };
    for (Layout &layout : layouts) layout.hand = hand::app_loops_for(layout.name);
    return layouts;
}

} // namespace bench::cpu
