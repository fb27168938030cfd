// Layouts in device memory, beside kernels written by hand and the runtime's copies; small calls;
// pieces in flight.
#include "baselines/gpu/kernels.hpp"
#include "cases/gpu/moves.hpp"
#include "cases/gpu/sections.hpp"

#include <fmt/core.h>

namespace bench::gpu {
namespace {

void run_whole(Run &run, Device &device, MemoryKind packed) {
    const std::string section = packed == MemoryKind::own ? "device to device" : "device, pinned";
    Table table(run.progress, {{"GB/s of packed bytes, " + section, 44},
                               {"MiB", 6},
                               {"", 6},
                               {"UCD", 6},
                               {"hand", 6},
                               {"copies", 6},
                               {"ceiling", 7},
                               {"UCD/hand", 8},
                               {"UCD/ceil", 8},
                               {"best by hand", 22}});
    for (const Layout &layout : layouts())
        run.row(layout.name, [&] {
            Workbench bench(*layout.type, device, MemoryKind::own, packed);
            const UcdType type(*layout.type);
            const DeviceLists lists(device, layout.lists);
            for (const bool pack : {true, false}) {
                Moves moves(bench, pack);
                moves.add_ucd(type);
                moves.add_hand(layout.hand, lists.view());
                moves.add_boxes(layout);
                moves.add_plain_copy("ceiling");
                const Comparison c = moves.measure(run, section, layout.name);
                table.row({layout.name, three_digits(static_cast<double>(bench.bytes()) / mib),
                           operation_name(pack), c.rate("UCD"), c.rate("hand"), c.rate("copies"),
                           c.rate("ceiling"), c.speedup("UCD", "hand"), c.speedup("UCD", "ceiling"),
                           c.variant("hand")});
            }
        });
}

// Times of small calls.
void run_latency(Run &run, Device &device) {
    Table table(run.progress, {{"time of 1 KiB", 44},
                               {"", 6},
                               {"UCD", 8},
                               {"UCD, hints", 10},
                               {"hand", 8},
                               {"copies", 8},
                               {"plain copy", 10}});
    const Layout layout = small_layout();
    for (const MemoryKind packed : {MemoryKind::own, MemoryKind::pinned}) {
        Workbench bench(*layout.type, device, MemoryKind::own, packed);
        const UcdType type(*layout.type);
        UcdInfo hints("ucd.inbuf", device.hint(MemoryKind::own));
        hints.set("ucd.outbuf", device.hint(packed));
        Moves moves(bench, true);
        moves.add_ucd(type);
        moves.add_ucd(type, "UCD, hints", hints.get());
        moves.add_hand(layout.hand.first(1));
        moves.add_boxes(layout);
        moves.add_plain_copy("plain copy");
        const std::string subject =
            packed == MemoryKind::own ? "device to device" : "device to pinned";
        const Comparison c = run.measure("latency", subject, "pack", 0, moves.contenders());
        table.row({subject, "pack", c.time("UCD"), c.time("UCD, hints"), c.time("hand"),
                   c.time("copies"), c.time("plain copy")});
    }
}

// A large type in pieces, several of them under way, as a communication library sends it.
void run_pipeline(Run &run, Device &device) {
    constexpr std::size_t in_flight = 4;
    Table table(run.progress, {{"GB/s, 256 MiB of 8 B blocks to pinned, 4 pieces in flight", 58},
                               {"UCD", 6},
                               {"ceiling", 7},
                               {"UCD/ceil", 8}});
    const Layout layout = nest_layout("", Nest<1>{8, {{256 * mib / 8, 64}}});
    Workbench bench(*layout.type, device, MemoryKind::own, MemoryKind::pinned);
    const UcdType type(*layout.type);
    for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{8} << 20}) {
        Moves moves(bench, true);
        moves.add("UCD", repeated([&, piece] {
                      ucd_request_t requests[in_flight] = {};
                      for (std::size_t at = 0, slot = 0; at < bench.size();
                           at += piece, slot = (slot + 1) % in_flight) {
                          check_ucd(ucd_wait(&requests[slot]));
                          std::uintptr_t moved;
                          check_ucd(ucd_ipack(bench.typed(), 1, type.get(), at, bench.packed() + at,
                                              piece, &moved, UCD_INFO__NULL, UCD_OP__REPLACE,
                                              &requests[slot]));
                      }
                      check_ucd(ucd_waitall(in_flight, requests));
                  }));
        moves.add_plain_copy("ceiling");
        const std::string subject = fmt::format("pieces of {} MiB", piece >> 20);
        const Comparison c = moves.measure(run, "pipeline", subject);
        table.row({subject, c.rate("UCD"), c.rate("ceiling"), c.speedup("UCD", "ceiling")});
    }
}

} // namespace

void run_layouts(Run &run, Device &device) {
    for (const MemoryKind packed : {MemoryKind::own, MemoryKind::pinned})
        run_whole(run, device, packed);
    if (!run.wants_all()) return;
    run.row("latency", [&] { run_latency(run, device); });
    run.row("pipeline", [&] { run_pipeline(run, device); });
}

void run_reductions(Run &run, Device &device) {
    bench::run_reductions(run, device, hand::reductions(), {64 * 1024});
}

} // namespace bench::gpu
