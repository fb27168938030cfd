// Packing between every two kinds of memory, beside plain copies of the packed bytes between the
// same.
#include "cases/layouts.hpp"
#include "cases/moves.hpp"
#include "cases/sections.hpp"
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

void measure(const Setting &s, Table &table, const Layout &layout, MemoryKind from, MemoryKind to) {
    LayoutOnDevice subject(layout, s.device, from, to);
    Workbench &bench = subject.bench;
    std::vector<Contender> contenders{{"UCD, pack", bench.ucd(subject.type, true)},
                                      {"UCD, unpack", bench.ucd(subject.type, false)}};
    bench.check(contenders[0], true);
    bench.check(contenders[1], false);
    const Buffer plain(s.device, bench.size(), from);
    contenders.push_back({"copy", copy_work(s.device, bench.packed(), plain.data(), bench.size())});
    table.row(s.run.measure("memories", layout.name, "move", bench.size(), contenders));
}

} // namespace

void run_memories(const Setting &s) {
    int devices = 0;
    check(gpuGetDeviceCount(&devices), "counting devices");
    if (devices < 2) fmt::print("between devices: skipped, there is one\n");
    Table table(s.run.progress,
                {column::subject("GB/s of packed bytes, 64 MiB", 46),
                 column::rate("UCD, pack", 6, "pack"), column::rate("UCD, unpack", 6, "unpack"),
                 column::rate("copy", 6), column::speedup("UCD, pack", "copy", 9, "pack/copy")});
    for (const auto &[block, stride] : {std::pair{128, 512}, {8, 64}})
        for (const Kind &from : kinds)
            for (const Kind &to : kinds) {
                const auto other = MemoryKind::other_device;
                if ((from.on_host && to.on_host) ||
                    ((from.kind == other || to.kind == other) && devices < 2))
                    continue;
                const std::string name =
                    fmt::format("{} B of {}, {} to {}", block, stride, from.name, to.name);
                s.run.row(name, [&, block = block, stride = stride] {
                    measure(s, table, nest_layout(name, blocks(block, stride)), from.kind, to.kind);
                });
            }
    fmt::print("\n");
}

} // namespace bench::gpu
