// ucd-bench: how fast UCD moves data, beside loops written by hand, memcpy and MPI.
#include "cuda/cuda_section.hpp"
#include "machine.hpp"
#include "sections.hpp"
#include "ucd_peer.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

struct Options {
    bench::Effort effort;
    std::string backend = "seq", filter, csv, json;
    bool list = false, layouts = false, partial = false, calls = false, all = false, no_mpi = false;
    bool apps = false;
};

void declare(CLI::App &app, Options &options) {
    app.add_option("--backend", options.backend, "Whose memory is used: seq (the host's) or cuda")
        ->capture_default_str()
        ->check(CLI::IsMember({"seq", "cuda"}));
    app.add_flag("--layouts", options.layouts,
                 "Whole packs and unpacks of each layout (if no other part is asked for)");
    app.add_flag("--partial", options.partial,
                 "Packs and unpacks of 64 KiB parts; lists of segments");
    app.add_flag("--calls", options.calls, "64-byte calls; creating and freeing types");
    app.add_flag("--apps", options.apps, "Whole packs and unpacks of what applications send");
    app.add_flag("--all", options.all, "All of these");
    app.add_option("--filter", options.filter, "Only layouts with this text in their names");
    app.add_option("--repetitions", options.effort.repetitions,
                   "Repetitions, of which the median counts")
        ->capture_default_str()
        ->check(CLI::Range(1u, 1'000'000u));
    app.add_option("--min-time", options.effort.seconds, "Seconds that a repetition takes at least")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    const std::map<std::string, bench::Clock> clocks{{"thread", bench::Clock::thread},
                                                     {"wall", bench::Clock::wall}};
    app.add_option("--clock", options.effort.clock,
                   "What is measured: the thread's time on a processor, or wall time")
        ->transform(CLI::CheckedTransformer(clocks));
    app.add_flag("--no-mpi", options.no_mpi, "Leave MPI out");
    app.add_flag("--list", options.list, "List the layouts, and measure nothing");
    app.add_option("--csv", options.csv, "Write the results to this file");
    app.add_option("--json", options.json, "Write the results, with each repetition, to this file");
}

void run(const Options &options) {
    if (options.list) return bench::list_layouts(options.filter);
    const bench::UcdSession session;
    const std::unique_ptr<bench::MpiPeer> mpi = options.no_mpi || options.backend != "seq" ? nullptr : bench::start_mpi();
    bench::Facts facts = bench::machine_facts();
    facts.emplace_back("MPI", mpi ? mpi->version() : "none");
    for (const auto &[name, value] : facts) fmt::print("{}: {}\n", name, value);

    bench::Progress progress;
    bench::Report report;
    bench::Run run{options.effort, options.filter, mpi.get(), progress, report};
    if (options.backend == "cuda") {
        bench::run_cuda(run);
    } else {
        if (options.all || options.layouts || !(options.partial || options.calls || options.apps))
            bench::run_layouts(run);
        if (options.all || options.partial) bench::run_pieces(run);
        if (options.all || options.calls) bench::run_calls(run);
        if (options.all || options.apps) bench::run_apps(run);
    }
    progress.clear();
    if (!options.csv.empty()) report.write_csv(options.csv);
    if (!options.json.empty()) report.write_json(options.json, facts);
    if (report.results().empty())
        throw std::runtime_error(fmt::format("no layout has \"{}\" in its name", options.filter));
}

} // namespace

int main(int argc, char **argv) {
    Options options;
    CLI::App app("Measures how fast UCD moves data, beside loops written by hand, memcpy and MPI.",
                 "ucd-bench");
    declare(app, options);
    CLI11_PARSE(app, argc, argv);
    try {
        run(options);
    } catch (const std::exception &e) {
        fmt::print(stderr, "ucd-bench: {}\n", e.what());
        return 1;
    }
    return 0;
}
