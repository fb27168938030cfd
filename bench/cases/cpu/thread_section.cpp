// One call split over two threads, beside one thread and beside a loop by hand in two.
#include "baselines/cpu/vectors.hpp"
#include "cases/cpu/sections.hpp"
#include "cases/moves.hpp"

#include <fmt/core.h>

#include <thread>

namespace bench::cpu {
namespace {

// The loop, its count halved, in two threads.
Work by_hand(VectorLoop loop, const Workbench &bench, std::int64_t block, std::int64_t count,
             std::int64_t stride) {
    return repeated([=, typed = bench.typed(), packed = bench.packed()] {
        const std::int64_t half = count / 2;
        std::thread other(
            [=] { loop(typed + half * stride, packed + half * block, count - half, stride); });
        loop(typed, packed, half, stride);
        other.join();
    });
}

} // namespace

void run_threads(const Setting &s) {
    const Clock clock = std::exchange(s.run.effort.clock, Clock::wall);
    Table table(s.run.progress, {{"GB/s of packed bytes, 64 MiB", 31},
                                 {"", 6},
                                 {"one", 5},
                                 {"two", 5},
                                 {"two/one", 7},
                                 {"two by hand", 11},
                                 {"UCD/hand", 8}});
    const UcdInfo two("ucd.threads", "2");
    constexpr std::int64_t bytes = std::int64_t{64} << 20;
    for (const VectorLoops &loops : hand::vectors())
        for (const std::int64_t stride : {64, 512}) {
            if ((loops.block != 8 && loops.block != 128) || stride <= loops.block) continue;
            const std::string name = fmt::format("{} B of {}", loops.block, stride);
            s.run.row(name, [&] {
                const std::int64_t count = bytes / loops.block;
                const RecipePtr vector =
                    recipe(HVector{count, loops.block, stride, predefined(Element::byte)});
                Workbench bench(*vector, s.host);
                const UcdType type(*vector);
                for (const bool pack : {true, false}) {
                    Moves moves(bench, pack);
                    moves.add_ucd(type, "UCD");
                    moves.add_ucd(type, "UCD, two threads", two.get());
                    moves.add("hand, two threads", by_hand(pack ? loops.pack : loops.unpack, bench,
                                                           loops.block, count, stride));
                    const Comparison c = moves.measure(s.run, "threads", name);
                    table.row({name, operation_name(pack), c.rate("UCD"),
                               c.rate("UCD, two threads"), c.speedup("UCD, two threads", "UCD"),
                               c.rate("hand"), c.speedup("UCD, two threads", "hand")});
                }
            });
        }
    s.run.effort.clock = clock;
    fmt::print("\n");
}

} // namespace bench::cpu
