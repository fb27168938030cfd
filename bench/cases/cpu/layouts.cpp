#include "cases/layouts.hpp"

#include "shapes/shapes.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace bench::cpu {
namespace {

using namespace shapes;

// Always the same, with gaps of 1 to 4 units between runs of 1 to 4. std::mt19937_64 gives the same
// numbers everywhere, which the standard's distributions do not.
class Scatter {
public:
    std::int32_t one_to_four() { return static_cast<std::int32_t>(generator_() >> 62) + 1; }

    void add_run(ListData &lists, std::int32_t length) {
        lists.displs.push_back(at_);
        lists.lengths.push_back(length);
        at_ += length + one_to_four();
    }

private:
    std::mt19937_64 generator_{20240607};
    std::int32_t at_ = 0;
};

ListData runs_of(std::size_t runs) {
    ListData lists;
    Scatter scatter;
    for (std::size_t r = 0; r < runs; ++r) scatter.add_run(lists, scatter.one_to_four());
    return lists;
}

// So many units altogether.
ListData runs_with(std::int64_t units) {
    ListData lists;
    Scatter scatter;
    while (units > 0) {
        const auto length =
            static_cast<std::int32_t>(std::min<std::int64_t>(scatter.one_to_four(), units));
        scatter.add_run(lists, length);
        units -= length;
    }
    return lists;
}

ListData single_units(std::int64_t units) {
    ListData lists;
    Scatter scatter;
    for (std::int64_t i = 0; i < units; ++i) scatter.add_run(lists, 1);
    return lists;
}

Ints wide(const std::vector<std::int32_t> &values) {
    return {values.begin(), values.end()};
}

Layout vector(std::string name, const Nest<1> &nest, Element element = Element::float64) {
    const std::int64_t bytes = element_bytes(element);
    const Level level = nest.levels[0];
    return {std::move(name), recipe(Vector{level.count, nest.block / bytes, level.stride / bytes,
                                           predefined(element)})};
}

Layout cube_face(std::string name, Ints subsizes) {
    return {std::move(name),
            recipe(Subarray{Ints(3, cube_side), std::move(subsizes), Ints(3, 0), doubles()})};
}

Layout hypercube(std::string name, std::int64_t part) {
    return {std::move(name),
            recipe(Subarray{Ints(4, hypercube_side), Ints(4, part), Ints(4, 0), doubles()})};
}

Layout indexed(std::string name, ListData lists, RecipePtr unit) {
    RecipePtr type = recipe(Indexed{wide(lists.lengths), wide(lists.displs), std::move(unit)});
    return {.name = std::move(name), .type = std::move(type), .lists = std::move(lists)};
}

Layout indexed_block(std::string name) {
    ListData lists = single_units(singles);
    RecipePtr type = recipe(IndexedBlock{1, wide(lists.displs), doubles()});
    return {.name = std::move(name), .type = std::move(type), .lists = std::move(lists)};
}

// As MILC's authors build it: a vector of su3 vectors for one parity, and two of those.
RecipePtr milc() {
    const RecipePtr su3 = recipe(Contig{6, predefined(Element::float32)});
    const RecipePtr parity = recipe(Vector{lattice, milc_sites_xy, milc_sites_xy * lattice, su3});
    return recipe(HVector{2, 1, milc_face.levels[0].stride, parity});
}

RecipePtr nas_lu() {
    const Level cells = nas_lu_face.levels[0];
    const RecipePtr cell = recipe(Contig{5, doubles()});
    return recipe(Vector{cells.count, 1, cells.stride / nas_lu_face.block, cell});
}

std::vector<Layout> with_loops(std::vector<Layout> layouts) {
    for (Layout &layout : layouts) layout.hand = hand::loops_for(layout.name);
    return layouts;
}

} // namespace

std::vector<Layout> whole_layouts() {
    const RecipePtr unit_128 = recipe(Contig{16, doubles()});
    return with_loops({
        {"contiguous doubles", recipe(Contig{contiguous_bytes / 8, doubles()})},
        vector("vector 8 B of 512", vector_8_of_512),
        vector("vector 8 B of 512, 16 MiB", vector_8_of_512_large),
        vector("vector 128 B of 512", vector_128_of_512),
        vector("vector 128 B of 512, 16 MiB", vector_128_of_512_large),
        vector("vector 4 B of 8", vector_4_of_8, Element::float32),
        vector("matrix column, N=2048", matrix_column),
        cube_face("256^3 doubles, face X-Z", {cube_side, 1, cube_side}),
        cube_face("256^3 doubles, face Y-Z", {cube_side, cube_side, 1}),
        hypercube("4-D subarray 16^4 of 64^4", 16),
        hypercube("4-D subarray 32^4 of 64^4", 32),
        indexed("indexed, runs of 1-4 x 8 B", runs_with(runs_bytes / 8), doubles()),
        indexed("indexed, runs of 1-4 x 128 B", runs_with(runs_bytes / 128), unit_128),
        indexed_block("indexed_block, single doubles"),
        {"struct {double; int; int; char}", records_of(records, record_extent)},
        {"lower triangle, N=2000", lower_triangle(triangle_side)},
        {"transpose, N=1024", transposed(transpose_side)},
        nest_layout("hvector nest, depth 4", nest_4),
        nest_layout("hvector nest, depth 5", nest_5),
        nest_layout("hvector nest, depth 5, 16 MiB", nest_5_large),
        {"MILC su3 face", milc()},
        {"NAS LU y face, 40 B blocks", nas_lu()},
    });
}

std::vector<Layout> large_layouts() {
    std::vector<Layout> layouts{
        indexed("indexed, a million runs of 1-4 x 8 B", runs_of(1'000'000), doubles()),
        vector("vector 8 B of 512, 16 MiB", vector_8_of_512_large),
        vector("vector 128 B of 512, 16 MiB", vector_128_of_512_large),
        hypercube("4-D subarray 32^4 of 64^4", 32),
        {"lower triangle, N=2000", lower_triangle(triangle_side)},
    };
    for (Layout &layout : layouts) layout.pieces = hand::pieces_of(layout.name);
    return layouts;
}

std::vector<Layout> small_layouts() {
    return with_loops({
        {"contiguous, 8 doubles", recipe(Contig{8, doubles()})},
        vector("vector of 8 doubles, stride 64 B", small_vector),
    });
}

ListData random_runs(std::size_t runs) {
    return runs_of(runs);
}

} // namespace bench::cpu
