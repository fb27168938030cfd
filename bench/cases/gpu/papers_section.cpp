// The experiments of two papers, each with its layouts and its ways to device and host.
#include "baselines/gpu/kernels.hpp"
#include "cases/gpu/layouts.hpp"
#include "cases/moves.hpp"
#include "cases/sections.hpp"
#include "harness/gpu/graph.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace bench::gpu {
namespace {

void pack_in_stream(const UcdType &type, const char *from, char *to, std::size_t bytes,
                    const Stream &stream) {
    std::uintptr_t moved;
    check_ucd(ucd_pack_stream(from, 1, type.get(), 0, to, bytes, &moved, UCD_INFO__NULL,
                              UCD_OP__REPLACE, {vendor_name, 0, stream.get(), nullptr, 0}));
}

Comparison measure_layout(const Setting &s, const Layout &layout, MemoryKind memory) {
    const bool pinned = memory == MemoryKind::pinned;
    LayoutOnDevice subject(layout, s.device, MemoryKind::own, memory);
    const Workbench &bench = subject.bench;
    const Stream stream;
    Moves moves(subject, true);
    moves.add_ucd();
    if (pinned)
        moves.add("UCD, then copied", repeated([&] {
                      pack_in_stream(subject.type, bench.typed(), bench.spare(), bench.size(),
                                     stream);
                      check(gpuMemcpyAsync(bench.packed(), bench.spare(), bench.size(),
                                           gpuMemcpyDefault, stream.get()),
                            "copying");
                      stream.wait();
                  }));
    moves.add_hand();
    moves.add_boxes();
    moves.add_plain_copy("ceiling");
    return moves.measure(s.run, pinned ? "papers, to pinned" : "papers, to device");
}

std::string ours(Yardstick yardstick, const Comparison &device, const Comparison &pinned) {
    switch (yardstick) {
    case Yardstick::none: break;
    case Yardstick::pinned_copies: return pinned.speedup("UCD", "copies") + " x copy";
    case Yardstick::pinned_hand: return pinned.speedup("UCD", "hand") + " x hand";
    case Yardstick::device_ceiling: return device.speedup("UCD", "ceiling") + " x ceil";
    }
    return "";
}

void run_layouts_of_papers(const Setting &s) {
    Table table(s.run.progress, {{"GB/s packed: to device | to pinned", 36},
                                 {"MiB", 6},
                                 {"UCD", 5},
                                 {"hand", 5},
                                 {"copies", 6},
                                 {"ceil", 5},
                                 {"| UCD", 6},
                                 {"staged", 6},
                                 {"hand", 5},
                                 {"copies", 6},
                                 {"ceil", 5},
                                 {"ours", 13},
                                 {"paper", 9}});
    for (const PaperLayout &paper : paper_layouts())
        s.run.row(paper.name, [&] {
            const Layout layout = paper.make();
            const Comparison device = measure_layout(s, layout, MemoryKind::own),
                             pinned = measure_layout(s, layout, MemoryKind::pinned);
            table.row(
                {paper.name,
                 three_digits(static_cast<double>(device.results().front().bytes) / (1 << 20)),
                 device.rate("UCD"), device.rate("hand"), device.rate("copies"),
                 device.rate("ceiling"), pinned.rate("UCD"), pinned.rate("UCD, then copied"),
                 pinned.rate("hand"), pinned.rate("copies"), pinned.rate("ceiling"),
                 ours(paper.published.against, device, pinned), paper.published.ratio});
        });
}

// A vector on one side, consecutive bytes on the other, without a pack buffer between.
void run_vector_to_contiguous(const Setting &s) {
    Table table(s.run.progress, {column::subject("GB/s, vector to contiguous, 64 MiB", 36),
                                 column::rate("UCD copy", 8), column::rate("copies", 8)});
    for (const auto &[name, nest] :
         {std::pair{"vector to contiguous, 8 B of 512", vector_8_of_512},
          std::pair{"vector to contiguous, 128 B of 512", vector_128_of_512}})
        s.run.row(name, [&, nest = nest, name = name] {
            LayoutOnDevice subject(nest_layout(name, nest), s.device);
            const Workbench &bench = subject.bench;
            Moves moves(subject, true);
            moves.add("UCD copy", repeated([&] {
                          std::uintptr_t moved;
                          check_ucd(ucd_copy(bench.typed(), 1, subject.type.get(), bench.packed(),
                                             bench.size(), UCD_TYPE__BYTE, &moved, UCD_INFO__NULL,
                                             UCD_OP__REPLACE));
                      }));
            moves.add_boxes();
            table.row(
                s.run.measure("papers, copy", name, "copy", bench.size(), moves.contenders()));
        });
}

// What a pack to the host consists of, and what a type costs that was never used before.
void measure_components(const Setting &s, Table &table, const Layout &layout,
                        const std::string &name) {
    Workbench bench(*layout.type, s.device, MemoryKind::own, MemoryKind::pinned);
    const UcdType type(*layout.type);
    const Stream stream;
    UcdMove to_device = bench.move(type);
    to_device.packed = bench.spare();
    const auto fresh_pack = [&](char *to) {
        return repeated([&, to] {
            const UcdType fresh(*layout.type);
            UcdMove move = bench.move(fresh);
            move.packed = to;
            move.pack();
        });
    };
    bench.check({"UCD, fresh type", fresh_pack(bench.packed())}, true);
    const Contender contenders[] = {
        {"create", repeated([&] { const UcdType fresh(*layout.type); })},
        {"create, prepare", repeated([&] {
             const UcdType fresh(*layout.type);
             check_ucd(ucd_prepare(1, fresh.get(), UCD_OP__REPLACE,
                                   {vendor_name, 0, stream.get(), nullptr, 0}, UCD_INFO__NULL));
         })},
        {"create, pack to device", fresh_pack(bench.spare())},
        {"pack to device", ucd_work(to_device, true)},
        // Many in a row, so that nothing but the kernel counts.
        {"kernel",
         [&](std::uint64_t times) {
             for (; times > 0; --times)
                 pack_in_stream(type, bench.typed(), bench.spare(), bench.size(), stream);
             stream.wait();
         }},
        {"copy to pinned", bench.plain_copy(true)},
        {"pack to pinned", bench.ucd(type, true)}};
    table.row(s.run.measure("papers, components", name, "pack", 0, contenders));
}

void run_components(const Setting &s) {
    constexpr std::string_view shown[] = {"vector 8 B of 512, 4096 KiB",
                                          "vector 128 B of 512, 4096 KiB",
                                          "indexed_block as vector 8 B, 4 MiB",
                                          "indexed, runs of 1-4 doubles",
                                          "4-D subarray 16^4 of 64^4",
                                          "sub-matrix, N=4096",
                                          "lower triangle, N=2048",
                                          "lower triangle, N=4096",
                                          "transpose, N=2048"};
    Table table(s.run.progress,
                {column::subject("time", 48), column::time("create", 8),
                 column::time("create, prepare", 8, "+prepare"),
                 column::time("create, pack to device", 8, "+pack"),
                 column::time("pack to device", 8, "pack"), column::time("kernel", 8),
                 column::time("copy to pinned", 8, "D2H"),
                 column::time("pack to pinned", 9, "to pinned"),
                 column::speedup("pack to device", "create, pack to device", 8, "new/used")});
    for (const PaperLayout &paper : paper_layouts()) {
        if (std::find(std::begin(shown), std::end(shown), paper.name) == std::end(shown)) continue;
        const std::string name = "components: " + paper.name;
        s.run.row(name, [&] { measure_components(s, table, paper.make(), name); });
    }
}

} // namespace

void run_papers(const Setting &s) {
    run_layouts_of_papers(s);
    run_vector_to_contiguous(s);
    run_components(s);
}

} // namespace bench::gpu
