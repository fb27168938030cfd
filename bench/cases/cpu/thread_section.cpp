// One call split over two threads, beside one thread and beside a loop by hand in two.
#include "baselines/cpu/vectors.hpp"
#include "cases/moves.hpp"
#include "cases/sections.hpp"

#include <fmt/core.h>

#include <thread>

namespace bench::cpu {
namespace {

// The loop, its count halved, in two threads.
Work by_hand(const Moves &moves, const VectorLoops &loops, std::int64_t count,
             std::int64_t stride) {
    return repeated([=, loop = moves.pack() ? loops.pack : loops.unpack, block = loops.block,
                     typed = moves.bench().typed(), packed = moves.bench().packed()] {
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
    Table table(s.run.progress,
                {column::subject("GB/s of packed bytes, 64 MiB", 31), column::operation(),
                 column::rate("UCD", 5, "one"), column::rate("UCD, two threads", 5, "two"),
                 column::speedup("UCD, two threads", "UCD", 7, "two/one"),
                 column::rate("hand", 11, "two by hand"),
                 column::speedup("UCD, two threads", "hand", 8, "UCD/hand")});
    const UcdInfo two("ucd.threads", "2");
    constexpr std::int64_t bytes = std::int64_t{64} << 20;
    for (const VectorLoops &loops : hand::vectors())
        for (const std::int64_t stride : {64, 512}) {
            if ((loops.block != 8 && loops.block != 128) || stride <= loops.block) continue;
            const std::string name = fmt::format("{} B of {}", loops.block, stride);
            s.run.row(name, [&] {
                const std::int64_t count = bytes / loops.block;
                LayoutOnDevice vector(
                    {name, recipe(HVector{count, loops.block, stride, predefined(Element::byte)})},
                    s.device);
                for (const Comparison &c :
                     measure_both_ways(s.run, "threads", vector, [&](Moves &moves) {
                         moves.add_ucd();
                         moves.add_ucd("UCD, two threads", two.get());
                         moves.add("hand, two threads", by_hand(moves, loops, count, stride));
                     }))
                    table.row(c);
            });
        }
    s.run.effort.clock = clock;
    fmt::print("\n");
}

} // namespace bench::cpu
