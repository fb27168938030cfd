// Vectors of many block sizes, strides and lengths.
#include "baselines/cpu/vectors.hpp"
#include "cases/moves.hpp"
#include "cases/sections.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace bench::cpu {
namespace {

constexpr std::int64_t kib = 1024;

// Distances: multiples of the block, and such that lines map to few sets of the cache, or just do
// not.
std::vector<std::int64_t> strides_for(std::int64_t block) {
    std::vector<std::int64_t> strides;
    for (const std::int64_t s : {2 * block, 4 * block, std::int64_t{512}, std::int64_t{528},
                                 std::int64_t{2048}, std::int64_t{4096}})
        if (s > block) strides.push_back(s);
    std::sort(strides.begin(), strides.end());
    strides.erase(std::unique(strides.begin(), strides.end()), strides.end());
    return strides;
}

// Of all vectors of a length in one direction.
struct Speeds {
    std::vector<double> to_hand;
    std::string slowest;

    void add(double speed, const std::string &name) {
        if (to_hand.empty() || speed < lowest()) slowest = name;
        to_hand.push_back(speed);
    }
    double lowest() const { return *std::min_element(to_hand.begin(), to_hand.end()); }
    void print(std::int64_t size, bool pack) const {
        fmt::print("{} KiB, {}: geometric mean of UCD/hand {}, lowest {} ({})\n", size,
                   operation_name(pack), ratio(geometric_mean(to_hand)), ratio(lowest()), slowest);
    }
};

Work by_hand(const Moves &moves, const VectorLoops &loops, std::int64_t count,
             std::int64_t stride) {
    return repeated([=, loop = moves.pack() ? loops.pack : loops.unpack,
                     typed = moves.bench().typed(),
                     packed = moves.bench().packed()] { loop(typed, packed, count, stride); });
}

void run_size(const Setting &s, Table &table, std::int64_t size) {
    Speeds packs, unpacks;
    for (const VectorLoops &loops : hand::vectors())
        for (const std::int64_t stride : strides_for(loops.block)) {
            const std::int64_t count = size * kib / loops.block;
            // More memory than a small machine has to spare.
            constexpr std::int64_t most = std::int64_t{4} << 30;
            if (count < 2 || count * stride > most) continue;
            const std::string name = fmt::format("{} B of {}", loops.block, stride);
            const std::string subject = fmt::format("{}, {} KiB", name, size);
            s.run.row(subject, [&] {
                LayoutOnDevice vector({subject, recipe(HVector{count, loops.block, stride,
                                                               predefined(Element::byte)})},
                                      s.device);
                std::vector<std::string> cells{name, fmt::format("{}", size)};
                for (const Comparison &c :
                     measure_both_ways(s.run, "sweep", vector, [&](Moves &moves) {
                         moves.add_ucd();
                         moves.add("hand", by_hand(moves, loops, count, stride));
                     })) {
                    const bool pack = cells.size() == 2;
                    (pack ? packs : unpacks).add(c.speed("UCD", "hand").value(), name);
                    cells.insert(cells.end(),
                                 {c.rate("UCD"), c.rate("hand"), c.speedup("UCD", "hand")});
                }
                table.row(cells);
            });
        }
    if (packs.to_hand.empty()) return;
    s.run.progress.clear();
    packs.print(size, true);
    unpacks.print(size, false);
}

} // namespace

void run_sweep(const Setting &s) {
    Table table(s.run.progress, {{"vector, GB/s of packed bytes", 31},
                                 {"KiB", 6},
                                 {"pack", 5},
                                 {"hand", 5},
                                 {"UCD/hand", 8},
                                 {"unpack", 6},
                                 {"hand", 5},
                                 {"UCD/hand", 8}});
    for (const std::int64_t size : s.sizes) run_size(s, table, size);
    fmt::print("\n");
}

} // namespace bench::cpu
