#include "cases/gpu/layouts.hpp"

#include "baselines/gpu/kernels.hpp"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

namespace bench::gpu {
namespace {

// One of those that have kernels by hand.
Layout with_hand(const std::string &name) {
    for (Layout &layout : layouts())
        if (layout.name == name) return std::move(layout);
    throw std::logic_error("no layout \"" + name + "\"");
}

class Collection {
public:
    void add(std::string name, std::function<Layout()> make, Published published = {}) {
        layouts_.push_back({std::move(name), std::move(make), published});
    }
    void add_known(const std::string &name, Published published = {}) {
        add(
            name, [name] { return with_hand(name); }, published);
    }
    void add_vector(const std::string &name, const Nest<1> &nest, Published published = {}) {
        add(
            name, [=] { return nest_layout(name, nest); }, published);
    }
    void add_type(const std::string &name, std::function<RecipePtr()> type,
                  Published published = {}) {
        add(
            name, [name, type = std::move(type)] { return Layout{.name = name, .type = type()}; },
            published);
    }
    std::vector<PaperLayout> take() { return std::move(layouts_); }

private:
    std::vector<PaperLayout> layouts_;
};

void add_vectors(Collection &all) {
    all.add_type("contiguous, 64 MiB", [] { return recipe(Contig{8 * mib, doubles()}); });
    const Published much{Yardstick::pinned_copies, "20"};
    for (const std::int64_t block : {8, 32, 128}) {
        const Published published = block == 8 ? much : Published{};
        for (const std::int64_t bytes : {64 * mib / 1024, 4 * mib, 64 * mib}) {
            if (bytes == 64 * mib && block != 32) continue;
            all.add_vector(fmt::format("vector {} B of 512, {} KiB", block, bytes / 1024),
                           {block, {{bytes / block, 512}}}, published);
        }
    }
    all.add_known("vector 8 B of 512", much);
    all.add_known("vector 128 B of 512");
    for (const std::int64_t block :
         {32, 48, 64, 72, 80, 96, 112, 128, 136, 160, 192, 224, 248, 256})
        all.add_vector(fmt::format("1024 blocks of {} B", block), {block, {{1024, 512}}});
}

// What the vectors of 8 B are, as lists.
void add_lists(Collection &all) {
    constexpr std::int64_t count = 4 * mib / 8;
    const auto displacements = [] {
        Ints displs;
        for (std::int64_t i = 0; i < count; ++i) displs.push_back(i * 64);
        return displs;
    };
    all.add_type("indexed_block as vector 8 B, 4 MiB", [=] {
        return recipe(IndexedBlock{1, displacements(), doubles()});
    });
    all.add_type("indexed as vector 8 B, 4 MiB", [=] {
        return recipe(Indexed{Ints(count, 1), displacements(), doubles()});
    });
    all.add_known("indexed_block 8 B");
    all.add_known("indexed_block 128 B");
    all.add_known("indexed, runs of 1-4 doubles");
    all.add_known("struct {double; int; int; char}", {Yardstick::pinned_hand, "0.56-0.83"});
}

void add_volumes(Collection &all) {
    for (const std::int64_t part : {8, 16}) {
        const std::string name = fmt::format("4-D subarray {}^4 of 64^4", part);
        all.add(name, [=] { return nest_layout(name, shapes::hypercube(part)); });
    }
    all.add_known("4-D subarray 32^4 of 64^4");
    // To the host, kernel by the 2-D copy of CUDA.
    struct Faces {
        std::int64_t side;
        const char *xy, *xz, *yz;
    };
    constexpr Faces cubes[] = {{64, "0.87", "0.85", "4.7"},
                               {128, "0.90", "0.89", "10"},
                               {256, "0.94", "0.94", "17"},
                               {512, "0.99", "3.5", "22"}};
    for (const auto &[side, xy, xz, yz] : cubes) {
        const std::int64_t row = side * 8;
        const auto add = [&](const char *face, const Nest<1> &nest, const char *ratio) {
            all.add_vector(fmt::format("{}^3, face {}", side, face), nest,
                           {Yardstick::pinned_copies, ratio});
        };
        add("X-Y", {row, {{side, row}}}, xy);
        add("X-Z", {row, {{side, side * row}}}, xz);
        add("Y-Z", {8, {{side * side, row}}}, yz);
    }
}

// The lower triangle, with rows that are longer than needed: multiples of a step.
RecipePtr stairs(std::int64_t side) {
    constexpr std::int64_t step = 128;
    Ints lengths, displs;
    for (std::int64_t i = 0; i < side; ++i) {
        lengths.push_back((i / step + 1) * step);
        displs.push_back(i * side);
    }
    return recipe(Indexed{std::move(lengths), std::move(displs), doubles()});
}

void add_matrices(Collection &all) {
    for (const std::int64_t side : {1024, 2048, 4096, 8192})
        all.add_vector(fmt::format("sub-matrix, N={}", side), {side * 8, {{side, 2 * side * 8}}},
                       {Yardstick::device_ceiling, "0.94"});
    const Published triangle{Yardstick::device_ceiling, "0.80"};
    for (const std::int64_t side : {1024, 2048, 8192})
        all.add_type(
            fmt::format("lower triangle, N={}", side), [=] { return lower_triangle(side); },
            triangle);
    all.add_known("lower triangle, N=4096", triangle);
    for (const std::int64_t side : {1024, 2048, 4096, 8192})
        all.add_type(fmt::format("stairs, N={}", side), [=] { return stairs(side); });
    for (const std::int64_t side : {1024, 2048})
        all.add_type(fmt::format("transpose, N={}", side), [=] { return transposed(side); });
    all.add_known("transpose, N=4096");
}

} // namespace

std::vector<PaperLayout> paper_layouts() {
    Collection all;
    add_vectors(all);
    add_lists(all);
    add_volumes(all);
    add_matrices(all);
    return all.take();
}

} // namespace bench::gpu
