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

template <Nest<1> nest>
Layout vector(std::string name, Element element = Element::float64,
              std::span<const HandMove> hand = hand::nest_loops<nest>()) {
    const std::int64_t bytes = element_bytes(element);
    const Level level = nest.levels[0];
    return {.name = std::move(name),
            .type = recipe(
                Vector{level.count, nest.block / bytes, level.stride / bytes, predefined(element)}),
            .hand = hand};
}

Layout cube_face(std::string name, Ints subsizes, std::span<const HandMove> hand) {
    return {.name = std::move(name),
            .type =
                recipe(Subarray{Ints(3, cube_side), std::move(subsizes), Ints(3, 0), doubles()}),
            .hand = hand};
}

Layout hypercube(std::string name, std::int64_t part, std::span<const HandMove> hand) {
    return {.name = std::move(name),
            .type = recipe(Subarray{Ints(4, hypercube_side), Ints(4, part), Ints(4, 0), doubles()}),
            .hand = hand};
}

Layout indexed(std::string name, ListData lists, RecipePtr unit, std::span<const HandMove> hand) {
    RecipePtr type = recipe(Indexed{wide(lists.lengths), wide(lists.displs), std::move(unit)});
    return {
        .name = std::move(name), .type = std::move(type), .hand = hand, .lists = std::move(lists)};
}

Layout indexed_block() {
    ListData lists = single_units(singles);
    RecipePtr type = recipe(IndexedBlock{1, wide(lists.displs), doubles()});
    return {.name = "indexed_block, single doubles",
            .type = std::move(type),
            .hand = hand::single_doubles(),
            .lists = std::move(lists)};
}

Layout record_array() {
    return {.name = "struct {double; int; int; char}",
            .type = records_of(records, record_extent),
            .hand = hand::records()};
}

Layout triangle() {
    return {.name = "lower triangle, N=2000",
            .type = lower_triangle(triangle_side),
            .hand = hand::triangle()};
}

Layout transpose() {
    return {
        .name = "transpose, N=1024", .type = transposed(transpose_side), .hand = hand::transpose()};
}

// As MILC's authors build it: a vector of su3 vectors for one parity, and two of those.
Layout milc() {
    const RecipePtr su3 = recipe(Contig{6, predefined(Element::float32)});
    const RecipePtr parity = recipe(Vector{lattice, milc_sites_xy, milc_sites_xy * lattice, su3});
    return {.name = "MILC su3 face",
            .type = recipe(HVector{2, 1, milc_face.levels[0].stride, parity}),
            .hand = hand::nest_loops<milc_face>()};
}

Layout nas_lu() {
    const Level cells = nas_lu_face.levels[0];
    const RecipePtr cell = recipe(Contig{5, doubles()});
    return {.name = "NAS LU y face, 40 B blocks",
            .type = recipe(Vector{cells.count, 1, cells.stride / nas_lu_face.block, cell}),
            .hand = hand::nest_loops<nas_lu_face>()};
}

Layout in_pieces(Layout layout, const HandPieces &pieces) {
    layout.pieces = pieces;
    return layout;
}

Layout large_vector_8() {
    return in_pieces(vector<vector_8_of_512_large>("vector 8 B of 512, 16 MiB"),
                     hand::vector_8_of_512_large_pieces());
}

Layout large_vector_128() {
    return in_pieces(vector<vector_128_of_512_large>("vector 128 B of 512, 16 MiB"),
                     hand::vector_128_of_512_large_pieces());
}

Layout hypercube_of_32() {
    return in_pieces(hypercube("4-D subarray 32^4 of 64^4", 32, hand::nest_loops<hypercube_32>()),
                     hand::hypercube_32_pieces());
}

} // namespace

std::vector<Layout> whole_layouts() {
    const RecipePtr unit_128 = recipe(Contig{16, doubles()});
    return {
        {.name = "contiguous doubles",
         .type = recipe(Contig{contiguous_bytes / 8, doubles()}),
         .hand = hand::contiguous()},
        vector<vector_8_of_512>("vector 8 B of 512", Element::float64, hand::vector_8_of_512()),
        large_vector_8(),
        vector<vector_128_of_512>("vector 128 B of 512"),
        large_vector_128(),
        vector<vector_4_of_8>("vector 4 B of 8", Element::float32),
        vector<matrix_column>("matrix column, N=2048"),
        cube_face("256^3 doubles, face X-Z", {cube_side, 1, cube_side},
                  hand::nest_loops<face_xz>()),
        cube_face("256^3 doubles, face Y-Z", {cube_side, cube_side, 1},
                  hand::nest_loops<face_yz>()),
        hypercube("4-D subarray 16^4 of 64^4", 16, hand::nest_loops<hypercube_16>()),
        hypercube_of_32(),
        indexed("indexed, runs of 1-4 x 8 B", runs_with(runs_bytes / 8), doubles(),
                hand::runs_of_8()),
        indexed("indexed, runs of 1-4 x 128 B", runs_with(runs_bytes / 128), unit_128,
                hand::runs_of_128()),
        indexed_block(),
        record_array(),
        triangle(),
        transpose(),
        nest_layout("hvector nest, depth 4", nest_4, hand::nest_loops<nest_4>()),
        nest_layout("hvector nest, depth 5", nest_5, hand::nest_loops<nest_5>()),
        milc(),
        nas_lu(),
    };
}

std::vector<Layout> large_layouts() {
    return {
        in_pieces(indexed("indexed, a million runs of 1-4 x 8 B", runs_of(1'000'000), doubles(),
                          hand::runs_of_8()),
                  hand::runs_of_8_pieces()),
        large_vector_8(),
        large_vector_128(),
        hypercube_of_32(),
        in_pieces(triangle(), hand::triangle_pieces()),
    };
}

std::vector<Layout> small_layouts() {
    return {
        {.name = "contiguous, 8 doubles",
         .type = recipe(Contig{8, doubles()}),
         .hand = hand::nest_loops<small_contiguous>()},
        vector<small_vector>("vector of 8 doubles, stride 64 B"),
    };
}

ListData random_runs(std::size_t runs) {
    return runs_of(runs);
}

} // namespace bench::cpu
