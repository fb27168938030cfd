// Many small moves in one call, beside the same moves one by one.
#include "cases/batch.hpp"
#include "cases/sections.hpp"

#include <fmt/core.h>

namespace bench::cpu {
namespace {

// Vectors one behind the other in memory, each double in a cache line of its own.
BatchCase vectors(std::size_t number, std::int32_t doubles_each) {
    constexpr std::int64_t stride = 64;
    BatchCase c{fmt::format("{} vectors of {} bytes", number, doubles_each * 8)};
    c.types.push_back(recipe(Vector{doubles_each, 1, stride / 8, doubles()}));
    for (std::size_t i = 0; i < number; ++i)
        c.members.push_back({static_cast<std::int64_t>(i) * doubles_each * stride, stride, 0, 8,
                             doubles_each, 1, 0});
    return c;
}

} // namespace

void run_batches(const Setting &s) {
    Table table(
        s.run.progress,
        {{"time for each member", 37}, {"", 6}, {"batch", 9}, {"calls", 9}, {"calls/batch", 11}});
    for (const std::int32_t doubles_each : {8, 32})
        for (const std::size_t number : {4, 57, 1000, 4096}) {
            const BatchCase c = vectors(number, doubles_each);
            s.run.row(c.name, [&] {
                Batch batch(c, s.device);
                for (const bool pack : {true, false}) {
                    const std::vector<Contender> contenders{{"batch", batch.in_one(pack)},
                                                            {"calls", batch.one_by_one(pack)}};
                    for (const Contender &contender : contenders) batch.check(contender, pack);
                    const char *const operation = pack ? "pack" : "unpack";
                    const Comparison found = s.run.measure("batches", c.name, operation,
                                                           batch.bench().size(), contenders);
                    const auto each = [&](const char *name) {
                        return duration(found.seconds(name) / static_cast<double>(number));
                    };
                    table.row({c.name, operation, each("batch"), each("calls"),
                               found.speedup("batch", "calls")});
                }
            });
        }
    fmt::print("\n");
}

} // namespace bench::cpu
