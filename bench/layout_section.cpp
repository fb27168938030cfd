#include "layouts.hpp"
#include "roofline.hpp"
#include "sections.hpp"
#include "ucd_peer.hpp"
#include "workbench.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace bench {
namespace {

// All that move one layout in one direction. `is_hand` tells the ways of the hand-written loop.
struct Field {
    std::vector<Contender> contenders;
    std::vector<bool> is_hand;

    void add(std::string name, Work work, bool hand = false) {
        contenders.push_back({std::move(name), std::move(work)});
        is_hand.push_back(hand);
    }
};

Work hand_work(MoveLoop loop, const Layout &layout, const Workbench &bench) {
    return repeated([loop, &lists = layout.lists, laid_out = bench.laid_out(),
                     packed = bench.packed()] { loop(lists, laid_out, packed); });
}

struct Ratios {
    std::vector<double> to_hand, to_mpi;
};

void print_means(const char *operation, const Ratios &ratios) {
    fmt::print("{:<34} UCD/hand {}", fmt::format("geometric mean, {}", operation),
               ratio(geometric_mean(ratios.to_hand)));
    if (!ratios.to_mpi.empty()) fmt::print("  UCD/MPI {}", ratio(geometric_mean(ratios.to_mpi)));
    fmt::print("  lowest: UCD/hand {}",
               ratio(*std::min_element(ratios.to_hand.begin(), ratios.to_hand.end())));
    if (!ratios.to_mpi.empty())
        fmt::print("  UCD/MPI {}",
                   ratio(*std::min_element(ratios.to_mpi.begin(), ratios.to_mpi.end())));
    fmt::print("\n");
}

// One direction of one layout.
class Match {
public:
    Match(Run &run, const char *section, Table &table, const Layout &layout, const Workbench &bench)
        : run_(run), section_(section), table_(table), layout_(layout), bench_(bench) {}

    void play(const char *operation, const Field &field, Ratios &ratios) {
        run_.progress.say(fmt::format("{}: {}", layout_.name, operation));
        const auto bytes = static_cast<std::uint64_t>(bench_.bytes());
        const std::span<const Result> results =
            run_.measure(section_, layout_.name, operation, bytes, field.contenders);
        const Result *ucd = nullptr, *hand = nullptr, *copy = nullptr, *mpi = nullptr,
                     *roof = nullptr;
        for (std::size_t i = 0; i < results.size(); ++i) {
            const Result &r = results[i];
            if (field.is_hand[i]) {
                if (hand == nullptr || r.seconds() < hand->seconds()) hand = &r;
            } else {
                (r.contender == "UCD"        ? ucd
                 : r.contender == "memcpy"   ? copy
                 : r.contender == "roofline" ? roof
                                             : mpi) = &r;
            }
        }
        const double to_hand = hand->seconds() / ucd->seconds();
        ratios.to_hand.push_back(to_hand);
        if (mpi != nullptr) ratios.to_mpi.push_back(mpi->seconds() / ucd->seconds());
        const auto rate = [](const Result *r) {
            return r == nullptr ? std::string("-") : three_digits(r->gigabytes_per_second());
        };
        table_.row({layout_.name, fmt::format("{:.0f}", static_cast<double>(bytes) / 1024),
                    operation, rate(ucd), rate(hand), rate(copy), rate(mpi), ratio(to_hand),
                    mpi == nullptr ? "-" : ratio(ratios.to_mpi.back()),
                    ratio(roof->seconds() / ucd->seconds()),
                    hand->contender.substr(std::min<std::size_t>(6, hand->contender.size()))});
    }

private:
    Run &run_;
    const char *section_;
    Table &table_;
    const Layout &layout_;
    const Workbench &bench_;
};

void run_layout(Run &run, const char *section, Table &table, const Layout &layout, Ratios &packs,
                Ratios &unpacks) {
    run.progress.say(fmt::format("{}: building and checking", layout.name));
    Workbench bench(*layout.type);
    const UcdType type(*layout.type);
    const UcdMove move{.type = type.get(),
                       .laid_out = bench.laid_out(),
                       .packed = bench.packed(),
                       .offset = 0,
                       .bytes = static_cast<std::uintptr_t>(bench.bytes())};
    const std::unique_ptr<MpiType> mpi = run.mpi ? run.mpi->build(*layout.type) : nullptr;

    Field pack, unpack;
    pack.add("UCD", repeated([move] { move.pack(); }));
    unpack.add("UCD", repeated([move] { move.unpack(); }));
    for (const HandLoop &way : layout.hand) {
        const std::string name = fmt::format("hand, {}", way.way);
        if (way.pack) pack.add(name, hand_work(way.pack, layout, bench), true);
        if (way.unpack) unpack.add(name, hand_work(way.unpack, layout, bench), true);
    }
    if (mpi) {
        pack.add("MPI", mpi->packing(bench.laid_out(), bench.packed(), bench.bytes()));
        unpack.add("MPI", mpi->unpacking(bench.laid_out(), bench.packed(), bench.bytes()));
    }
    for (const Contender &c : pack.contenders) bench.check_packing(c.name, c.work);
    for (const Contender &c : unpack.contenders) bench.check_unpacking(c.name, c.work);
    // Not checked, and last because the checks need what it overwrites.
    pack.add("memcpy", memcpy_work(bench.packed(), bench.spare(), bench.bytes()));
    unpack.add("memcpy", memcpy_work(bench.spare(), bench.packed(), bench.bytes()));
    const Roofline roofline(bench);
    pack.add("roofline", roofline.work());
    unpack.add("roofline", roofline.work());

    Match match(run, section, table, layout, bench);
    match.play("pack", pack, packs);
    match.play("unpack", unpack, unpacks);
}

void run_whole(Run &run, const char *section, std::span<const Layout> layouts) {
    Table table(run.progress, {{"GB/s of packed bytes", 31},
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
    Ratios packs, unpacks;
    for (const Layout &layout : layouts)
        if (run.wants(layout.name)) run_layout(run, section, table, layout, packs, unpacks);
    if (packs.to_hand.empty()) return;
    print_means("pack", packs);
    print_means("unpack", unpacks);
}

} // namespace

std::span<const Result> Run::measure(const std::string &section_name, const std::string &subject,
                                     const std::string &operation, std::uint64_t bytes,
                                     std::span<const Contender> contenders) {
    std::vector<Timing> timings = time_in_turns(contenders, effort);
    for (std::size_t i = 0; i < contenders.size(); ++i)
        report.add(
            {section_name, subject, operation, contenders[i].name, bytes, std::move(timings[i])});
    return std::span(report.results()).last(contenders.size());
}

void run_layouts(Run &run) {
    run_whole(run, "layouts", whole_layouts());
}

void run_apps(Run &run) {
    run_whole(run, "apps", app_layouts());
}

void list_layouts(const std::string &filter) {
    for (const Layout &layout : whole_layouts()) {
        if (layout.name.find(filter) == std::string::npos) continue;
        std::int64_t bytes = 0;
        std::size_t segments = 0;
        for (const Segment &s : segments_of(*layout.type)) {
            bytes += s.bytes;
            ++segments;
        }
        fmt::print("{:<31}  {:>5.0f} KiB in {:>7} segments\n", layout.name,
                   static_cast<double>(bytes) / 1024, segments);
    }
}

} // namespace bench
