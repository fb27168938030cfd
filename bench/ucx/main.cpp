// ucd-ucx-bench: layouts sent from one process to another by UCX, in several ways. The transports
// are UCX's choice: UCX_TLS. Figures are of a message and the acknowledgement that it was unpacked.

#include "report.hpp"
#include "ucx/ways.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/core.h>

namespace bench {
namespace {

struct Options {
    unsigned repetitions = 15;
    std::uint64_t most_bytes = 64 << 20, most_footprint = 1 << 30;
    double seconds = 1; // for each way with each layout, about
    std::string filter, csv, senders_memory = "host", receivers_memory = "host";
    std::vector<std::string> eagers = {""}, chunks = {""}, depths = {""};
    std::vector<std::uint64_t> sizes = {0, 1 << 20, 8 << 20, 64 << 20};
};

void check(Subject &s, Link &link, const Way &way) {
    s.fill(link.sends());
    way.once();
    link.acknowledge();
    if (!link.sends() && !s.is_as_sent())
        throw std::runtime_error(s.name() + ": " + way.name + " moves other bytes");
}

double seconds_of(Link &link, const Way &way, std::uint64_t times) {
    const auto start = std::chrono::steady_clock::now();
    for (; times > 0; --times) {
        way.once();
        link.acknowledge();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Bench {
public:
    Bench(Link &link, const Options &options) : link_(link), options_(options) {}

    void run() {
        if (link_.sends())
            fmt::print("{:<34} {:>9} {:>8}  {}\n", "layout", "KiB", "segment",
                       "time of contiguous; each way's share of contiguous speed");
        for (const Layout &layout : whole_layouts()) {
            if (layout.name.find(options_.filter) == std::string::npos) continue;
            std::int64_t last = 0;
            const UcdType type(*layout.type);
            std::uintptr_t bytes;
            check_ucd(ucd_get_size(type.get(), &bytes));
            for (const std::uint64_t wanted : options_.sizes) {
                const auto count =
                    std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted / bytes));
                if (count == last || count * bytes > options_.most_bytes) continue;
                last = count;
                measure(layout, count);
            }
        }
        if (link_.sends() && !options_.csv.empty()) report_.write_csv(options_.csv);
    }

private:
    void measure(const Layout &layout, std::intptr_t count) {
        Subject s(layout, count, link_.memory());
        if (s.footprint() > options_.most_footprint || !s.suits_hand()) return;
        s.allocate();
        std::vector<PipelineShape> pipelines;
        for (const std::string &eager : options_.eagers)
            for (const std::string &chunk : options_.chunks)
                for (const std::string &depth : options_.depths)
                    pipelines.push_back({eager, chunk, depth});
        std::vector<Way> ways = ways_of(s, link_, pipelines);
        for (const Way &way : ways) check(s, link_, way);
        ways.insert(ways.begin(), contiguous_way(s, link_));

        // The sender says how often; the receiver does the same.
        std::vector<Timing> timings(ways.size());
        std::vector<std::uint64_t> turns(ways.size());
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const double one = seconds_of(link_, ways[i], 1);
            timings[i].times =
                link_.agree(static_cast<std::uint64_t>(std::clamp(2e-3 / one, 1.0, 1000.0)));
            const double most = std::max(options_.seconds / one, 3.0);
            turns[i] = link_.agree(
                static_cast<std::uint64_t>(std::min<double>(options_.repetitions, most)));
        }
        for (unsigned r = 0; r < options_.repetitions; ++r)
            for (std::size_t turn = 0; turn < ways.size(); ++turn) {
                const std::size_t i = (turn + r) % ways.size();
                if (r >= turns[i]) continue;
                timings[i].seconds.push_back(seconds_of(link_, ways[i], timings[i].times) /
                                             static_cast<double>(timings[i].times));
            }
        if (link_.sends()) print(s, ways, timings);
    }

    void print(const Subject &s, const std::vector<Way> &ways, const std::vector<Timing> &timings) {
        fmt::print("{:<34} {:>9} {:>8}  {:>9}", s.name(), s.bytes() / 1024,
                   s.bytes() / s.about().segments, duration(timings[0].median()));
        for (std::size_t i = 0; i < ways.size(); ++i) {
            if (i > 0)
                fmt::print("  {} {}", ways[i].name,
                           ratio(timings[0].median() / timings[i].median()));
            report_.add({"ucx", s.name(), "send", ways[i].name, s.bytes(), timings[i]});
        }
        fmt::print("\n");
        std::fflush(stdout);
    }

    Link &link_;
    const Options &options_;
    Report report_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    bench::Options options;
    CLI::App app{"Layouts sent from one process to another by UCX, in several ways."};
    app.add_option("--repetitions", options.repetitions, "Times that each way has its turn")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--seconds", options.seconds, "Spend about so many on a way with a layout")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--sizes", options.sizes,
                   "Messages of about so many bytes, as far as the layout can be repeated")
        ->delimiter(',')
        ->capture_default_str();
    std::vector<std::string> memory;
    app.add_option("--memory", memory,
                   "Where data is, at the sender and the receiver: host or cuda:N, or both as A,B")
        ->delimiter(',')
        ->expected(1, 2);
    app.add_option("--most-bytes", options.most_bytes, "Largest message")->capture_default_str();
    app.add_option("--most-footprint", options.most_footprint, "Largest layout in memory")
        ->capture_default_str();
    app.add_option("--filter", options.filter, "Only layouts whose name contains this");
    app.add_option("--csv", options.csv, "File for all times");
    app.add_option("--eager", options.eagers, "Pipelines with values of ucd.ucx.eager")
        ->delimiter(',');
    app.add_option("--chunk", options.chunks, "and of ucd.ucx.chunk")->delimiter(',');
    app.add_option("--depth", options.depths, "and of ucd.ucx.depth")->delimiter(',');
    CLI11_PARSE(app, argc, argv);
    if (!memory.empty()) {
        options.senders_memory = memory.front();
        options.receivers_memory = memory.back();
    }
    const auto fail = [](const std::exception &e) {
        fmt::print(stderr, "ucd-ucx-bench: {}\n", e.what());
        std::_Exit(1);
    };
    try {
        const bench::UcdSession session;
        bench::Link link(options.senders_memory, options.receivers_memory);
        try {
            bench::Bench(link, options).run();
        } catch (const std::exception &e) {
            fail(e); // the end of the link would wait for the other side
        }
        return 0;
    } catch (const std::exception &e) {
        fail(e);
    }
}
