// ucd-ucx-bench: layouts sent from one process to another by UCX, in several ways. The transports
// are UCX's choice: UCX_TLS. Figures are of a message and the acknowledgement that it was unpacked.
#include "cases/ucx/ways.hpp"
#include "harness/options.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace bench {
namespace {

struct Options {
    Settings settings;
    std::int64_t max_bytes = 64 << 20, max_footprint = 1 << 30;
    std::vector<std::string> memory = {"host"}, hosts;
    std::vector<std::string> eagers = {""}, chunks = {""}, depths = {""}, direct = {"no"},
                             packs = {""}, ways;
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> sizes = {0, 1 << 20, 8 << 20, 64 << 20};
};

std::vector<Option> declared(Options &o) {
    o.settings.effort = {
        .repetitions = 15, .seconds = 2e-3, .clock = Clock::wall, .max_seconds = 1};
    std::vector<Option> all = common_options(o.settings);
    const std::vector<Option> own{
        {"--seconds", &o.settings.effort.max_seconds, "Spend about so many on a way with a layout"},
        {.name = "--sizes",
         .value = &o.sizes,
         .text = "Messages of about so many bytes, as far as the layout can be repeated",
         .least = 0},
        {"--memory", &o.memory,
         "Where data is, at the sender and the receiver: host or cuda:N, or both as A,B"},
        {"--hosts", &o.hosts, "Network namespaces of the two processes: A,B (bench/over_link.py)"},
        {"--most-bytes", &o.max_bytes, "Largest message"},
        {"--most-footprint", &o.max_footprint, "Largest layout in memory"},
        {"--eager", &o.eagers, "Pipelines with values of ucd.ucx.eager"},
        {"--chunk", &o.chunks, "and of ucd.ucx.chunk"},
        {"--depth", &o.depths, "and of ucd.ucx.depth"},
        {"--direct", &o.direct, "and of ucd.ucx.direct: no, yes, always"},
        {"--pack", &o.packs, "and of ucd.ucx.pack: auto, chunk, ucx"},
        {"--ways", &o.ways, "Only these ways: hand, pack, prepare, iov, generic, pipeline"},
        {.name = "--rows",
         .value = &o.rows,
         .text = "Rows of so many bytes, at twice the distance, instead of the usual layouts",
         .least = 1}};
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

// One of the two processes.
class Process {
public:
    Process(const Options &options, Board &board, const CommonMemory &memory, unsigned seat)
        : options_(options), memory_(memory),
          device_(open_device(seat == 0 ? options.memory.front() : options.memory.back())),
          peers_(board, seat, *device_), link_{peers_, options.memory.front() != "host" ||
                                                           options.memory.back() != "host"},
          run_(options.settings, &peers_) {
        for (const std::string &eager : options.eagers)
            for (const std::string &chunk : options.chunks)
                for (const std::string &depth : options.depths)
                    for (const std::string &direct : options.direct)
                        for (const std::string &pack : options.packs)
                            pipelines_.push_back({eager, chunk, depth, direct, pack});
    }

    void run() {
        if (link_.sends())
            fmt::print("{:<34} {:>9} {:>8}  {}\n", "layout", "KiB", "segment",
                       "time of contiguous; each way's share of contiguous speed");
        for (const Layout &layout : layouts()) {
            std::int64_t last = 0;
            const std::int64_t bytes = extremes_of(segments_of(*layout.type)).bytes;
            for (const std::int64_t wanted : options_.sizes) {
                const std::int64_t count = std::max<std::int64_t>(1, wanted / bytes);
                if (count == last || count * bytes > options_.max_bytes) continue;
                last = count;
                run_.row(layout.name, [&] { measure(layout, count); });
            }
        }
        run_.progress.clear();
        run_.write();
    }

private:
    // They have 64 KiB, or 16 rows if that is more; or they are as short as the shortest message.
    std::vector<Layout> layouts() const {
        if (options_.rows.empty()) return cpu::whole_layouts();
        std::vector<Layout> all;
        for (const std::int64_t row : options_.rows) {
            const std::int64_t shortest = *std::ranges::min_element(options_.sizes);
            std::int64_t count = std::max<std::int64_t>(16, (64 << 10) / row);
            if (shortest > 0) count = std::clamp<std::int64_t>(shortest / row, 1, count);
            all.push_back(nest_layout(fmt::format("rows of {} B", row),
                                      shapes::Nest<1>{row, {{count, 2 * row}}}, {},
                                      predefined(Element::byte)));
        }
        return all;
    }

    void measure(const Layout &layout, std::intptr_t count) {
        Subject s(layout, count);
        if (static_cast<std::int64_t>(s.footprint()) > options_.max_footprint || !s.suits_hand())
            return;
        s.allocate(*device_);
        std::vector<Contender> ways = ways_of(s, link_, pipelines_);
        const bool trusts = std::any_of(pipelines_.begin(), pipelines_.end(),
                                        [](const auto &p) { return p.direct != "no"; });
        if (trusts && !link_.any_gpu) ways.push_back(mapped_way(s, link_));
        if (!options_.ways.empty())
            std::erase_if(ways, [&](const Contender &way) {
                const std::string kind = way.name.substr(0, way.name.find(' '));
                return std::ranges::find(options_.ways, kind) == options_.ways.end();
            });
        for (const Contender &way : ways) check(s, way);
        ways.insert(ways.begin(), contiguous_way(s, link_));
        if (!options_.rows.empty() && !link_.any_gpu && options_.hosts.empty()) {
            for (Contender &way : attached_ways(s, link_, memory_)) ways.push_back(std::move(way));
        }
        print(s, run_.measure("ucx", s.name(), "send", s.bytes(), ways));
    }

    void check(Subject &s, const Contender &way) {
        if (!link_.sends()) s.bench().blank_typed();
        peers_.meet();
        way.work(1);
        run_.check_none(link_.sends() ? 0 : s.bench().wrong_typed_bytes(),
                        s.name() + ": " + way.name);
    }

    void print(const Subject &s, const Comparison &c) {
        if (!link_.sends()) return;
        run_.progress.clear();
        fmt::print("{:<34} {:>9.4g} {:>8}  {:>9}", s.name(), static_cast<double>(s.bytes()) / 1024,
                   s.bytes() / s.about().segments, c.time("contiguous"));
        for (const Result &r : c.results())
            if (r.contender != "contiguous")
                fmt::print("  {} {}", r.contender, c.speedup(r.contender, "contiguous"));
        fmt::print("\n");
        std::fflush(stdout);
    }

    const Options &options_;
    const CommonMemory &memory_;
    std::unique_ptr<Device> device_;
    const UcdSession session_;
    Peers peers_;
    Link link_;
    Run run_;
    std::vector<PipelineShape> pipelines_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    using namespace bench;
    Options options;
    if (const auto status = parse(
            argc, argv, "ucd-ucx-bench",
            "Layouts sent from one process to another by UCX, in several ways.", declared(options)))
        return *status;
    return run_program("ucd-ucx-bench", [&] {
        Board board(2);
        const CommonMemory memory(static_cast<std::size_t>(options.max_footprint));
        run_processes(2, options.settings.budget + 600, [&](unsigned seat) {
            if (!options.hosts.empty())
                enter_host(seat == 0 ? options.hosts.front() : options.hosts.back());
            Process(options, board, memory, seat).run();
        });
        return 0;
    });
}
