// What copy engines and kernels take between device and pinned memory, and the figures by which UCD
// chooses (src/backend/*/tuning.h).
#include "cases/gpu/engine_fit.hpp"
#include "cases/moves.hpp"
#include "cases/sections.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace bench::gpu {
namespace {

using shapes::kib, shapes::mib;

// Rows four times their length apart are one copy of rows; blocks at irregular distances are a copy
// each.
struct Case {
    bool listed;
    std::int64_t block, blocks;
};

std::vector<Case> all_cases() {
    std::vector<Case> all;
    for (const std::int64_t row : {8, 17, 32, 64, 128, 129, 1024})
        for (const std::int64_t bytes : {kib, 16 * kib, 64 * kib, 256 * kib, mib, 16 * mib})
            if (bytes / row >= 2 && bytes / row <= mib) all.push_back({false, row, bytes / row});
    for (const std::int64_t block : {512l, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib})
        for (const std::int64_t blocks : {2, 8, 64, 512, 4096})
            if (block * blocks <= 64 * mib) all.push_back({true, block, blocks});
    return all;
}

Layout layout_of(const Case &c) {
    const std::string name =
        fmt::format("{} {} of {} B", c.blocks, c.listed ? "listed blocks" : "rows", c.block);
    if (!c.listed) return nest_layout(name, shapes::Nest<1>{c.block, {{c.blocks, 4 * c.block}}});
    Ints displs;
    for (std::int64_t i = 0; i < c.blocks; ++i) displs.push_back(3 * i + i * i % 7 % 2);
    return {.name = name,
            .type =
                recipe(IndexedBlock{1, std::move(displs), recipe(Contig{c.block / 8, doubles()})})};
}

} // namespace

void run_tuning(const Setting &s) {
    Table table(s.run.progress,
                {column::subject("device and pinned memory, time by ucd.engine", 44),
                 column::operation(), column::time("auto", 9), column::time("kernel", 9),
                 column::time("dma", 9), column::speedup("auto", "kernel", 11),
                 column::speedup("auto", "dma", 8)});
    const UcdInfo automatic("ucd.engine", "auto"), kernel("ucd.engine", "kernel"),
        dma("ucd.engine", "dma");
    std::vector<EngineSample> samples;
    for (const Case &c : all_cases()) {
        const Layout layout = layout_of(c);
        s.run.row(layout.name, [&] {
            LayoutOnDevice subject(layout, s.device, MemoryKind::own, MemoryKind::pinned);
            for (const bool pack : {true, false}) {
                Moves moves(subject, pack);
                moves.add_ucd("auto", automatic.get());
                moves.add_ucd("kernel", kernel.get());
                moves.add_ucd("dma", dma.get());
                const Comparison times = moves.measure(s.run, "tuning");
                table.row(times);
                samples.push_back({pack, c.listed, static_cast<double>(c.block),
                                   static_cast<double>(c.blocks), times.seconds("kernel") * 1e9,
                                   times.seconds("dma") * 1e9});
            }
        });
    }
    if (!s.run.wants_all()) return; // too little to fit
    fmt::print("\n{}", tuning_section(s.device.name(), samples));
}

} // namespace bench::gpu
