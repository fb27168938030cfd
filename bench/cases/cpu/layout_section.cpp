// Whole packs and unpacks, beside loops by hand, MPI, memcpy and what memory allows.
#include "cases/cpu/sections.hpp"
#include "cases/moves.hpp"

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

Comparison measure(const Setting &s, const std::string &section, const Layout &layout,
                   Workbench &bench, const UcdType &type, const MpiType *mpi, bool pack) {
    Moves moves(bench, pack);
    moves.add_ucd(type);
    moves.add_hand(layout.hand, layout.lists.view());
    moves.add_mpi(mpi);
    moves.add_plain_copy("memcpy");
    const Roofline roofline(bench);
    moves.add_unchecked("roofline", roofline.work());
    return moves.measure(s.run, section, layout.name);
}

void run_whole(const Setting &s, const std::string &section, const std::vector<Layout> &layouts) {
    Table table(s.run.progress, {{"GB/s of packed bytes", 31},
                                 {"KiB", 5},
                                 {"", 6},
                                 {"UCD", 5},
                                 {"hand", 5},
                                 {"memcpy", 6},
                                 {"MPI", 5},
                                 {"UCD/hand", 8},
                                 {"UCD/MPI", 7},
                                 {"UCD/roof", 8},
                                 {"best by hand", 12}});
    Speeds packs, unpacks;
    for (const Layout &layout : layouts)
        s.run.row(layout.name, [&] {
            Workbench bench(*layout.type, s.host);
            const UcdType type(*layout.type);
            const std::unique_ptr<MpiType> mpi = s.mpi ? s.mpi->build(*layout.type) : nullptr;
            for (const bool pack : {true, false}) {
                const Comparison c = measure(s, section, layout, bench, type, mpi.get(), pack);
                (pack ? packs : unpacks).add(c);
                table.row({layout.name,
                           fmt::format("{:.0f}", static_cast<double>(bench.bytes()) / 1024),
                           operation_name(pack), c.rate("UCD"), c.rate("hand"), c.rate("memcpy"),
                           c.rate("MPI"), c.speedup("UCD", "hand"), c.speedup("UCD", "MPI"),
                           c.speedup("UCD", "roofline"), c.variant("hand")});
            }
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
