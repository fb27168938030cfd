// Whole packs and unpacks, beside loops by hand, MPI, memcpy and what memory allows.
#include "cases/moves.hpp"
#include "cases/sections.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace bench::cpu {
namespace {

// Of all layouts in one direction.
struct Speeds {
    std::vector<double> to_hand, to_mpi;

    void add(const Comparison &c) {
        to_hand.push_back(c.speed("UCD", "hand").value());
        if (const auto speed = c.speed("UCD", "MPI")) to_mpi.push_back(*speed);
    }
    void print(bool pack) const {
        const auto both = [this](const auto &number) {
            return fmt::format("UCD/hand {}", ratio(number(to_hand))) +
                   (to_mpi.empty() ? "" : fmt::format("  UCD/MPI {}", ratio(number(to_mpi))));
        };
        fmt::print("{:<34} {}  lowest: {}\n",
                   fmt::format("geometric mean, {}", operation_name(pack)), both(geometric_mean),
                   both([](const std::vector<double> &all) {
                       return *std::min_element(all.begin(), all.end());
                   }));
    }
};

void add_moves(Moves &moves) {
    moves.add_ucd();
    moves.add_hand();
    moves.add_mpi();
    moves.add_plain_copy("memcpy");
    moves.add_roofline();
}

void run_whole(const Setting &s, const std::string &section, const std::vector<Layout> &layouts) {
    Table table(s.run.progress,
                {column::subject("GB/s of packed bytes", 31),
                 column::kib(5),
                 column::operation(),
                 column::rate("UCD", 5),
                 column::rate("hand", 5),
                 column::rate("memcpy", 6),
                 column::rate("MPI", 5),
                 column::speedup("UCD", "hand", 8),
                 column::speedup("UCD", "MPI", 7),
                 column::speedup("UCD", "roofline", 8, "UCD/roof"),
                 {"best by hand", 12, [](const Comparison &c) { return c.variant("hand"); }}});
    Speeds packs, unpacks;
    for (const Layout &layout : layouts)
        s.run.row(layout.name, [&] {
            LayoutOnDevice subject(layout, s.device, MemoryKind::own, MemoryKind::own, s.mpi);
            const std::vector<Comparison> both =
                measure_both_ways(s.run, section, subject, add_moves);
            packs.add(both[0]);
            unpacks.add(both[1]);
            for (const Comparison &c : both) table.row(c);
        });
    if (packs.to_hand.empty()) return;
    s.run.progress.clear();
    packs.print(true);
    unpacks.print(false);
}

} // namespace

void run_layouts(const Setting &s) {
    run_whole(s, "layouts", whole_layouts());
}

void run_apps(const Setting &s) {
    run_whole(s, "apps", app_layouts());
}

void list_layouts(const std::string &filter) {
    for (const Layout &layout : whole_layouts()) {
        if (layout.name.find(filter) == std::string::npos) continue;
        const std::vector<Segment> segments = segments_of(*layout.type);
        fmt::print("{:<31}  {:>5.0f} KiB in {:>7} segments\n", layout.name,
                   static_cast<double>(extremes_of(segments).bytes) / 1024, segments.size());
    }
}

} // namespace bench::cpu
