// Layouts in device memory, beside kernels written by hand and the runtime's copies; small calls;
// pieces in flight.
#include "baselines/gpu/kernels.hpp"
#include "cases/gpu/layouts.hpp"
#include "cases/moves.hpp"
#include "cases/sections.hpp"

#include <fmt/core.h>

namespace bench::gpu {
namespace {

void run_whole(const Setting &s, MemoryKind packed) {
    const std::string section = packed == MemoryKind::own ? "device to device" : "device, pinned";
    Table table(s.run.progress,
                {column::subject("GB/s of packed bytes, " + section, 44),
                 column::mib(6),
                 column::operation(),
                 column::rate("UCD", 6),
                 column::rate("hand", 6),
                 column::rate("copies", 6),
                 column::rate("ceiling", 7),
                 column::speedup("UCD", "hand", 8),
                 column::speedup("UCD", "ceiling", 8, "UCD/ceil"),
                 {"best by hand", 22, [](const Comparison &c) { return c.variant("hand"); }}});
    for (const Layout &layout : layouts())
        s.run.row(layout.name, [&] {
            LayoutOnDevice subject(layout, s.device, MemoryKind::own, packed);
            for (const Comparison &c : measure_both_ways(s.run, section, subject, [](Moves &moves) {
                     moves.add_ucd();
                     moves.add_hand();
                     moves.add_boxes();
                     moves.add_plain_copy("ceiling");
                 }))
                table.row(c);
        });
}

// Times of small calls.
void run_latency(const Setting &s) {
    Table table(s.run.progress,
                {column::subject("time of 1 KiB", 44), column::operation(), column::time("UCD", 8),
                 column::time("UCD, hints", 10), column::time("hand", 8), column::time("copies", 8),
                 column::time("plain copy", 10)});
    for (const MemoryKind packed : {MemoryKind::own, MemoryKind::pinned}) {
        LayoutOnDevice subject(small_layout(), s.device, MemoryKind::own, packed);
        UcdInfo hints("ucd.inbuf", s.device.hint(MemoryKind::own));
        hints.set("ucd.outbuf", s.device.hint(packed));
        Moves moves(subject, true);
        moves.add_ucd();
        moves.add_ucd("UCD, hints", hints.get());
        moves.add_hand(1);
        moves.add_boxes();
        moves.add_plain_copy("plain copy");
        const char *const name =
            packed == MemoryKind::own ? "device to device" : "device to pinned";
        table.row(s.run.measure("latency", name, "pack", 0, moves.contenders()));
    }
}

// A large type in pieces, several of them under way, as a communication library sends it.
void run_pipeline(const Setting &s) {
    constexpr std::size_t in_flight = 4;
    Table table(s.run.progress,
                {column::subject("GB/s, 256 MiB of 8 B blocks to pinned, 4 pieces in flight", 58),
                 column::rate("UCD", 6), column::rate("ceiling", 7),
                 column::speedup("UCD", "ceiling", 8, "UCD/ceil")});
    LayoutOnDevice subject(nest_layout("", Nest<1>{8, {{256 * mib / 8, 64}}}), s.device,
                           MemoryKind::own, MemoryKind::pinned);
    const Workbench &bench = subject.bench;
    for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{8} << 20}) {
        Moves moves(subject, true);
        moves.add("UCD", repeated([&, piece] {
                      ucd_request_t requests[in_flight] = {};
                      for (std::size_t at = 0, slot = 0; at < bench.size();
                           at += piece, slot = (slot + 1) % in_flight) {
                          check_ucd(ucd_wait(&requests[slot]));
                          std::uintptr_t moved;
                          check_ucd(ucd_ipack(bench.typed(), 1, subject.type.get(), at,
                                              bench.packed() + at, piece, &moved, UCD_INFO__NULL,
                                              UCD_OP__REPLACE, &requests[slot]));
                      }
                      check_ucd(ucd_waitall(in_flight, requests));
                  }));
        moves.add_plain_copy("ceiling");
        table.row(s.run.measure("pipeline", fmt::format("pieces of {} MiB", piece >> 20), "pack",
                                bench.size(), moves.contenders()));
    }
}

} // namespace

void run_layouts(const Setting &s) {
    for (const MemoryKind packed : {MemoryKind::own, MemoryKind::pinned}) run_whole(s, packed);
    if (!s.run.wants_all()) return;
    s.run.row("latency", [&] { run_latency(s); });
    s.run.row("pipeline", [&] { run_pipeline(s); });
}

void run_reductions(const Setting &s) {
    measure_reductions(s, hand::reductions(), {64 * 1024});
}

} // namespace bench::gpu
