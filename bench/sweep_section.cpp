// Vectors of many block sizes, strides and lengths.
#include "hand_sweep.hpp"
#include "sections.hpp"
#include "ucd_peer.hpp"
#include "workbench.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace bench {
namespace {

constexpr std::int64_t kib = 1024;

// Where distances are taken from: multiples of the block, and such that cache lines compete for few
// places, or just do not.
std::vector<std::int64_t> strides_for(std::int64_t block) {
    std::vector<std::int64_t> strides;
    for (const std::int64_t s : {2 * block, 4 * block, std::int64_t{512}, std::int64_t{528},
                                 std::int64_t{2048}, std::int64_t{4096}})
        if (s > block) strides.push_back(s);
    std::sort(strides.begin(), strides.end());
    strides.erase(std::unique(strides.begin(), strides.end()), strides.end());
    return strides;
}

struct Ratios {
    std::vector<double> pack, unpack;
    std::string worst_pack, worst_unpack;
};

double measure(Run &run, const std::string &name, Workbench &bench, const UcdType &type,
               const VectorLoops &loops, std::int64_t count, std::int64_t stride, bool pack,
               std::vector<std::string> &cells) {
    const UcdMove move{.type = type.get(),
                       .laid_out = bench.laid_out(),
                       .packed = bench.packed(),
                       .offset = 0,
                       .bytes = static_cast<std::uintptr_t>(bench.bytes())};
    const VectorLoop loop = pack ? loops.pack : loops.unpack;
    const std::vector<Contender> contenders{
        {"UCD", pack ? repeated([move] { move.pack(); }) : repeated([move] { move.unpack(); })},
        {"hand", repeated([=, laid_out = bench.laid_out(), packed = bench.packed()] {
             loop(laid_out, packed, count, stride);
         })}};
    for (const Contender &c : contenders)
        pack ? bench.check_packing(c.name, c.work) : bench.check_unpacking(c.name, c.work);
    const auto results = run.measure("sweep", name, pack ? "pack" : "unpack",
                                     static_cast<std::uint64_t>(bench.bytes()), contenders);
    const double to_hand = results[1].seconds() / results[0].seconds();
    for (const Result &r : results) cells.push_back(three_digits(r.gigabytes_per_second()));
    cells.push_back(ratio(to_hand));
    return to_hand;
}

void print_ratios(std::int64_t packed, const char *operation, const std::vector<double> &ratios,
                  const std::string &worst) {
    fmt::print("{} KiB, {}: geometric mean of UCD/hand {}, lowest {} ({})\n", packed / kib,
               operation, ratio(geometric_mean(ratios)),
               ratio(*std::min_element(ratios.begin(), ratios.end())), worst);
}

} // namespace

void run_sweep(Run &run, const std::vector<std::int64_t> &sizes) {
    Table table(run.progress, {{"vector, GB/s of packed bytes", 31},
                               {"KiB", 6},
                               {"pack", 5},
                               {"hand", 5},
                               {"UCD/hand", 8},
                               {"unpack", 6},
                               {"hand", 5},
                               {"UCD/hand", 8}});
    for (const std::int64_t size : sizes) {
        const std::int64_t packed = size * kib;
        Ratios ratios;
        for (const VectorLoops &loops : hand::vectors())
            for (const std::int64_t stride : strides_for(loops.block)) {
                const std::string name = fmt::format("{} B of {}", loops.block, stride);
                const std::int64_t count = packed / loops.block;
                // More memory than a small machine has to spare.
                constexpr std::int64_t most = std::int64_t{4} << 30;
                if (!run.wants(name) || count < 2 || count * stride > most) continue;
                run.progress.say(fmt::format("{}, {} KiB", name, size));
                const RecipePtr recipe_of_it =
                    recipe(HVector{count, loops.block, stride, predefined(Element::byte)});
                Workbench bench(*recipe_of_it);
                const UcdType type(*recipe_of_it);
                std::vector<std::string> cells{name, fmt::format("{}", size)};
                const std::string subject = fmt::format("{}, {} KiB", name, size);
                for (const bool pack : {true, false}) {
                    const double to_hand =
                        measure(run, subject, bench, type, loops, count, stride, pack, cells);
                    std::vector<double> &of = pack ? ratios.pack : ratios.unpack;
                    std::string &worst = pack ? ratios.worst_pack : ratios.worst_unpack;
                    if (of.empty() || to_hand < *std::min_element(of.begin(), of.end()))
                        worst = name;
                    of.push_back(to_hand);
                }
                table.row(cells);
            }
        if (ratios.pack.empty()) continue;
        run.progress.clear();
        print_ratios(packed, "pack", ratios.pack, ratios.worst_pack);
        print_ratios(packed, "unpack", ratios.unpack, ratios.worst_unpack);
    }
    fmt::print("\n");
}

} // namespace bench
