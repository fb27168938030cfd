// Packing between every two kinds of memory, beside plain copies of the packed bytes between the
// same.
#include "cases/gpu/sections.hpp"
#include "cases/layouts.hpp"
#include "cases/moves.hpp"
#include "harness/gpu/runtime.hpp"

#include <fmt/core.h>

#include <stdexcept>

namespace bench::gpu {
namespace {

struct Kind {
    MemoryKind kind;
    const char *name;
    bool on_host;
};
constexpr Kind kinds[] = {{MemoryKind::own, "device", false},
                          {MemoryKind::other_device, "other device", false},
                          {MemoryKind::managed, "managed", false},
                          {MemoryKind::pinned, "pinned", true},
                          {MemoryKind::pageable, "pageable", true}};

constexpr shapes::Nest<1> blocks(std::int64_t block, std::int64_t stride) {
    return {block, {{64 * shapes::mib / block, stride}}};
}

void measure(Run &run, Device &device, Table &table, const std::string &name, const Layout &layout,
             MemoryKind from, MemoryKind to) {
    Workbench bench(*layout.type, device, from, to);
    const UcdType type(*layout.type);
    std::vector<Contender> contenders{{"UCD, pack", bench.ucd(type, true)},
                                      {"UCD, unpack", bench.ucd(type, false)}};
    bench.check(contenders[0], true);
    bench.check(contenders[1], false);
    const Buffer plain(device, bench.size(), from);
    contenders.push_back({"copy", copy_work(device, bench.packed(), plain.data(), bench.size())});
    const Comparison c = run.measure("memories", name, "move", bench.size(), contenders);
    table.row({name, c.rate("UCD, pack"), c.rate("UCD, unpack"), c.rate("copy"),
               c.speedup("UCD, pack", "copy")});
}

} // namespace

void run_memories(Run &run, Device &device) {
    int devices = 0;
    check(gpuGetDeviceCount(&devices), "counting devices");
    if (devices < 2) fmt::print("between devices: skipped, there is one\n");
    Table table(run.progress, {{"GB/s of packed bytes, 64 MiB", 46},
                               {"pack", 6},
                               {"unpack", 6},
                               {"copy", 6},
                               {"pack/copy", 9}});
    for (const auto &[block, stride] : {std::pair{128, 512}, {8, 64}})
        for (const Kind &from : kinds)
            for (const Kind &to : kinds) {
                const auto other = MemoryKind::other_device;
                if ((from.on_host && to.on_host) ||
                    ((from.kind == other || to.kind == other) && devices < 2))
                    continue;
                const std::string name =
                    fmt::format("{} B of {}, {} to {}", block, stride, from.name, to.name);
                run.row(name, [&, block = block, stride = stride] {
                    measure(run, device, table, name, nest_layout(name, blocks(block, stride)),
                            from.kind, to.kind);
                });
            }
    fmt::print("\n");
}

} // namespace bench::gpu
