// Layouts that can be described in several ways: no way may be slower than another.
#include "cases/moves.hpp"
#include "cases/sections.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace bench::cpu {
namespace {

struct Description {
    std::string name;
    RecipePtr type;
};

struct Family {
    std::string name;
    std::vector<Description> descriptions;
};

Ints steps(std::intptr_t count, std::intptr_t step) {
    Ints values(static_cast<std::size_t>(count));
    for (std::intptr_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = i * step;
    return values;
}

// `count` blocks of doubles at equal distances.
Family vector_of(std::intptr_t count, std::intptr_t length, std::intptr_t stride) {
    const RecipePtr number = doubles();
    const RecipePtr row = recipe(Resized{0, stride * 8, recipe(Contig{length, number})});
    const Ints displs = steps(count, stride), bytes = steps(count, stride * 8);
    const auto n = static_cast<std::size_t>(count);
    Family f{fmt::format("{} blocks of {} doubles, {} apart", count, length, stride), {}};
    f.descriptions = {
        {"vector", recipe(Vector{count, length, stride, number})},
        {"hvector", recipe(HVector{count, length, stride * 8, number})},
        {"hvector of bytes",
         recipe(HVector{count, length * 8, stride * 8, predefined(Element::byte)})},
        {"contig of a resized row", recipe(Contig{count, row})},
        {"subarray", recipe(Subarray{{count, stride}, {count, length}, {0, 0}, number})},
        {"indexed_block", recipe(IndexedBlock{length, displs, number})},
        {"indexed", recipe(Indexed{Ints(n, length), displs, number})},
        {"struct", recipe(Struct{Ints(n, length), bytes, std::vector<RecipePtr>(n, number)})},
        {"vector of vectors",
         recipe(HVector{count / 4, 1, 4 * stride * 8, recipe(Vector{4, length, stride, number})})},
    };
    return f;
}

// A box in a cube of doubles.
Family box_of(std::intptr_t side, std::intptr_t part) {
    const RecipePtr number = doubles();
    const std::intptr_t row = side * 8, plane = side * row;
    const RecipePtr rows = recipe(HVector{part, part, row, number});
    Family f{fmt::format("{0}^3 of {1}^3 doubles", part, side), {}};
    f.descriptions = {
        {"subarray", recipe(Subarray{{side, side, side}, {part, part, part}, {0, 0, 0}, number})},
        {"hvector of hvectors", recipe(HVector{part, 1, plane, rows})},
        {"hvector of a subarray",
         recipe(HVector{part, 1, plane,
                        recipe(Subarray{{side, side}, {part, part}, {0, 0}, number})})},
        {"indexed planes",
         recipe(IndexedBlock{1, steps(part, 1), recipe(Resized{0, plane, rows})})},
        {"struct of planes",
         recipe(Struct{Ints(static_cast<std::size_t>(part), 1), steps(part, plane),
                       std::vector<RecipePtr>(static_cast<std::size_t>(part), rows)})},
    };
    return f;
}

std::vector<Family> families() {
    return {vector_of(8192, 1, 64),    vector_of(8192, 1, 2),    vector_of(1024, 8, 16),
            vector_of(512, 16, 64),    vector_of(65536, 16, 64), vector_of(4096, 5, 60),
            vector_of(64, 1024, 2048), box_of(64, 20),           box_of(256, 100)};
}

// The fastest's time to the slowest's, and which that is.
std::pair<double, std::string> slowest(const Setting &s, const Family &family, bool pack) {
    std::vector<UcdType> types;
    LayoutOnDevice subject({family.name, family.descriptions.front().type}, s.device);
    Moves moves(subject, pack);
    for (const Description &d : family.descriptions)
        moves.add(d.name, subject.bench.ucd(types.emplace_back(*d.type), pack));
    const Comparison c = moves.measure(s.run, "equivalents");
    const auto faster = [](const Result &a, const Result &b) { return a.seconds() < b.seconds(); };
    const auto [best, worst] = std::minmax_element(c.results().begin(), c.results().end(), faster);
    return {best->seconds() / worst->seconds(), worst->contender};
}

} // namespace

void run_equivalents(const Setting &s) {
    Table table(s.run.progress, {{"slowest description to fastest", 39},
                                 {"pack", 5},
                                 {"slowest", 24},
                                 {"unpack", 6},
                                 {"slowest", 24}});
    for (const Family &family : families())
        s.run.row(family.name, [&] {
            const auto [pack, slowest_pack] = slowest(s, family, true);
            const auto [unpack, slowest_unpack] = slowest(s, family, false);
            table.row({family.name, ratio(pack), slowest_pack, ratio(unpack), slowest_unpack});
        });
    fmt::print("\n");
}

} // namespace bench::cpu
