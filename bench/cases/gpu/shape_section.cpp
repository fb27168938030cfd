// Layouts of many words and shapes, for which there are no moves by hand: between device memory,
// and between device and host memory, there with and without the limit of blocks.
#include "cases/layouts.hpp"
#include "cases/moves.hpp"
#include "cases/sections.hpp"

#include <fmt/core.h>

namespace bench::gpu {
namespace {

using shapes::mib;

// So many packed bytes of blocks.
constexpr shapes::Nest<1> blocks(std::int64_t block, std::int64_t stride, std::int64_t bytes) {
    return {block, {{bytes / block, stride}}};
}

RecipePtr scattered(std::int64_t count, Element element) {
    Ints displs;
    for (std::int64_t i = 0; i < count; ++i) displs.push_back(i * 3 + i % 2);
    return recipe(IndexedBlock{1, std::move(displs), predefined(element)});
}

RecipePtr three_lists(Element element) {
    constexpr std::int64_t count = 4 * mib;
    Struct three;
    for (std::int64_t part = 0; part < 3; ++part) {
        three.blocklengths.push_back(1);
        three.displs.push_back(part * (count * 3 + 2) * element_bytes(element));
        three.types.push_back(scattered(count, element));
    }
    return recipe(std::move(three));
}

RecipePtr runs_of_up_to_five() {
    Ints lengths, displs;
    for (std::int64_t i = 0, at = 0; i < 2 * mib; at += lengths.back() + 1 + i % 3, ++i) {
        lengths.push_back(1 + i * 7 % 5);
        displs.push_back(at);
    }
    return recipe(Indexed{std::move(lengths), std::move(displs), doubles()});
}

std::vector<Layout> shapes_of_all_kinds() {
    std::vector<Layout> all;
    const auto add = [&all](std::string name, RecipePtr type) {
        all.push_back({.name = std::move(name), .type = std::move(type)});
    };
    for (const auto &[block, stride] : {std::pair{128, 512},
                                        {64, 256},
                                        {32, 128},
                                        {24, 64},
                                        {17, 24},
                                        {16, 64},
                                        {8, 512},
                                        {8, 64},
                                        {8, 16},
                                        {4, 16},
                                        {4, 8},
                                        {2, 8},
                                        {1, 4}})
        all.push_back(nest_layout(fmt::format("{} B of {}, 64 MiB", block, stride),
                                  blocks(block, stride, 64 * mib)));
    all.push_back(nest_layout("24 B of 64, 8 MiB", blocks(24, 64, 8 * mib)));
    all.push_back(nest_layout("24 B of 64, 256 MiB", blocks(24, 64, 256 * mib)));
    all.push_back(
        nest_layout("nest of 4 B", shapes::Nest<3>{4, {{256, 411648}, {256, 1600}, {128, 12}}}));
    all.push_back(
        nest_layout("nest of 2 B", shapes::Nest<3>{2, {{256, 411648}, {256, 800}, {128, 6}}}));
    all.push_back(
        nest_layout("nest of 1 B", shapes::Nest<3>{1, {{256, 411648}, {256, 400}, {128, 3}}}));
    add("list of 4 B", scattered(16 * mib, Element::float32));
    add("list of 1 B", scattered(16 * mib, Element::byte));
    add("three lists of 4 B", three_lists(Element::float32));
    add("three lists of 1 B", three_lists(Element::byte));
    add("runs of 8 to 40 B", runs_of_up_to_five());
    add("struct {double; int; int; char}", records_of(2 * mib, 24));
    add("lower triangle, N=4096", lower_triangle(4096));
    return all;
}

struct Route {
    const char *name;
    MemoryKind typed, packed;
};
constexpr Route routes[] = {{"on device", MemoryKind::own, MemoryKind::own},
                            {"packed side pinned", MemoryKind::own, MemoryKind::pinned},
                            {"typed side pinned", MemoryKind::pinned, MemoryKind::own}};

} // namespace

void run_shapes(const Setting &s) {
    Table table(
        s.run.progress,
        {column::subject("GB/s, by kernels, limited as by default or not", 54), column::operation(),
         column::rate("UCD", 7, "default"), column::rate("UCD, all blocks", 6, "all"),
         column::speedup("UCD", "UCD, all blocks", 11, "default/all"), column::rate("ceiling", 7)});
    UcdInfo by_kernel("ucd.engine", "kernel"), in_all_blocks("ucd.engine", "kernel");
    in_all_blocks.set("ucd.max_blocks", "1000000");
    for (const Layout &layout : shapes_of_all_kinds())
        for (const Route &route : routes) {
            Layout named = layout;
            named.name = fmt::format("{}, {}", layout.name, route.name);
            s.run.row(named.name, [&] {
                LayoutOnDevice subject(named, s.device, route.typed, route.packed);
                for (const Comparison &c :
                     measure_both_ways(s.run, "shapes", subject, [&](Moves &moves) {
                         moves.add_ucd("UCD", by_kernel.get());
                         moves.add_ucd("UCD, all blocks", in_all_blocks.get());
                         moves.add_plain_copy("ceiling");
                     }))
                    table.row(c);
            });
        }
    fmt::print("\n");
}

} // namespace bench::gpu
