// One call split over two threads, beside one thread and beside a loop by hand in two.
#include "hand_sweep.hpp"
#include "sections.hpp"
#include "ucd_peer.hpp"
#include "workbench.hpp"

#include <fmt/core.h>

#include <thread>

namespace bench {
namespace {

// The loop, its count halved, in two threads.
Work by_hand(VectorLoop loop, const Workbench &bench, std::int64_t block, std::int64_t count,
             std::int64_t stride) {
    return repeated([=, laid_out = bench.laid_out(), packed = bench.packed()] {
        const std::int64_t half = count / 2;
        std::thread other(
            [=] { loop(laid_out + half * stride, packed + half * block, count - half, stride); });
        loop(laid_out, packed, half, stride);
        other.join();
    });
}

} // namespace

void run_threads(Run &run) {
    Run by_the_clock = run;
    by_the_clock.effort.clock = Clock::wall;
    Table table(run.progress, {{"GB/s of packed bytes, 64 MiB", 31},
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
            const std::string name = fmt::format("{} B of {}", loops.block, stride);
            if ((loops.block != 8 && loops.block != 128) || stride <= loops.block ||
                !run.wants(name))
                continue;
            run.progress.say(fmt::format("{}: threads", name));
            const std::int64_t count = bytes / loops.block;
            const RecipePtr type_of_it =
                recipe(HVector{count, loops.block, stride, predefined(Element::byte)});
            Workbench bench(*type_of_it);
            const UcdType type(*type_of_it);
            for (const bool pack : {true, false}) {
                const auto by_ucd = [&](ucd_info_t info) {
                    const UcdMove move{.type = type.get(),
                                       .laid_out = bench.laid_out(),
                                       .packed = bench.packed(),
                                       .offset = 0,
                                       .bytes = static_cast<std::uintptr_t>(bytes),
                                       .info = info};
                    return pack ? repeated([move] { move.pack(); })
                                : repeated([move] { move.unpack(); });
                };
                const std::vector<Contender> contenders{
                    {"UCD", by_ucd(UCD_INFO__NULL)},
                    {"UCD, two threads", by_ucd(two.get())},
                    {"hand, two threads",
                     by_hand(pack ? loops.pack : loops.unpack, bench, loops.block, count, stride)}};
                for (const Contender &c : contenders)
                    pack ? bench.check_packing(c.name, c.work)
                         : bench.check_unpacking(c.name, c.work);
                const char *const operation = pack ? "pack" : "unpack";
                const auto r = by_the_clock.measure("threads", name, operation, bytes, contenders);
                table.row({name, operation, three_digits(r[0].gigabytes_per_second()),
                           three_digits(r[1].gigabytes_per_second()),
                           ratio(r[0].seconds() / r[1].seconds()),
                           three_digits(r[2].gigabytes_per_second()),
                           ratio(r[2].seconds() / r[1].seconds())});
            }
        }
    fmt::print("\n");
}

} // namespace bench
