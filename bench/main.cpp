// ucd-bench: how fast UCD moves data, beside loops written by hand, memcpy and MPI.
#include "cuda/cuda_section.hpp"
#include "machine.hpp"
#include "rate_plot.hpp"
#include "sections.hpp"
#include "ucd_peer.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Options {
    bench::CudaOptions cuda;
    bench::Effort effort;
    std::string backend = "seq", filter, csv, json, plot, type;
    std::int64_t count = 1; // of the type
    bool list = false, all = false, no_mpi = false;
    bool layouts = false, partial = false, calls = false, sweep = false, equivalents = false,
         threads = false, apps = false, kernels = false;
    std::vector<std::int64_t> sizes = {16, 256, 16384}; // packed KiB
};

// A part of the program for host memory, and whether it was asked for.
struct Part {
    bool wanted;
    std::function<void(bench::Run &)> run;
};

std::vector<Part> parts_of(const Options &o) {
    std::vector<Part> parts{
        {o.layouts, bench::run_layouts},
        {o.apps, bench::run_apps},
        {!o.type.empty(), [&o](bench::Run &run) { bench::run_type(run, o.type, o.count); }},
        {o.partial, bench::run_pieces},
        {o.calls, bench::run_calls},
        {o.sweep, [&o](bench::Run &run) { bench::run_sweep(run, o.sizes); }},
        {o.equivalents, bench::run_equivalents},
        {o.cuda.reductions, bench::run_reductions},
        {o.cuda.batches, bench::run_batches},
        {o.threads, bench::run_threads},
        {o.kernels, bench::run_kernels},
    };
    const auto is_wanted = [](const Part &part) { return part.wanted; };
    const bool none = std::none_of(parts.begin(), parts.end(), is_wanted);
    if (o.all)
        for (Part &part : parts) part.wanted = true;
    parts[2].wanted = !o.type.empty(); // there is none to take if none is given
    parts.front().wanted = parts.front().wanted || none;
    return parts;
}

void declare(CLI::App &app, Options &options) {
    bench::declare_cuda(app, options.cuda);
    app.add_option("--backend", options.backend, "Whose memory is used: seq (the host's) or cuda")
        ->capture_default_str()
        ->check(CLI::IsMember({"seq", "cuda"}));
    app.add_flag("--layouts", options.layouts,
                 "Whole packs and unpacks of each layout (if no other part is asked for)");
    app.add_flag("--partial", options.partial,
                 "Packs and unpacks of 64 KiB parts; lists of segments");
    app.add_flag("--calls", options.calls, "64-byte calls; creating and freeing types");
    app.add_option("--type", options.type, "A type in the language of the tool ucd");
    app.add_option("--count", options.count, "How many of --type")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    app.add_flag("--sweep", options.sweep, "Vectors of many blocks, strides and lengths");
    app.add_option("--sizes", options.sizes, "The lengths of --sweep, packed KiB")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    app.add_flag("--equivalents", options.equivalents, "Equal layouts described differently");
    app.add_flag("--threads", options.threads, "One call split over two threads");
    app.add_flag("--apps", options.apps, "Whole packs and unpacks of what applications send");
    app.add_flag("--kernels", options.kernels,
                 "Each kernel of the CPU, in every instruction set that it has");
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
    app.add_option("--plot", options.plot,
                   "Draw the rates of --layouts, --apps or --suite, as SVG, to this file");
    app.add_option("--json", options.json, "Write the results, with each repetition, to this file");
}

void plot(const Options &options, const std::vector<bench::Result> &results) {
    using bench::PlotPanel;
    using bench::PlotSeries;
    if (options.backend == "cuda") {
        const PlotSeries series[] = {
            {"ceiling", "plain copy of the packed bytes", "#999999", 0},
            {"copies", "CUDA's 2-D or 3-D copy", "#e69f00", 4},
            {"hand", "kernel by hand, the best", "#009e73", 5},
            {"UCD, then copied", "UCD to device, then copied", "#56b4e9", 3},
            {"UCD", "UCD", "#0072b2", 3}};
        const PlotPanel panels[] = {
            {"papers, to device", "pack", "to device memory, GB/s of packed bytes"},
            {"papers, to pinned", "pack", "to pinned memory, GB/s of packed bytes"}};
        return bench::plot_rates(results, series, panels, options.plot);
    }
    const PlotSeries series[] = {{"roofline", "copy of the lines touched", "#999999", 0},
                                 {"MPI", "MPI_Pack, MPI_Unpack", "#e69f00", 4},
                                 {"hand", "loop by hand, the best", "#009e73", 5},
                                 {"UCD", "UCD", "#0072b2", 3}};
    const bool layouts = std::any_of(results.begin(), results.end(),
                                     [](const bench::Result &r) { return r.section == "layouts"; });
    const std::string section = layouts ? "layouts" : "apps";
    const PlotPanel panels[] = {{section, "pack", "packing, GB/s of packed bytes"},
                                {section, "unpack", "unpacking, GB/s of packed bytes"}};
    bench::plot_rates(results, series, panels, options.plot);
}

void run(const Options &options) {
    if (options.list) return bench::list_layouts(options.filter);
    const bench::UcdSession session;
    const std::unique_ptr<bench::MpiPeer> mpi =
        options.no_mpi || options.backend != "seq" ? nullptr : bench::start_mpi();
    bench::Facts facts = bench::machine_facts();
    facts.emplace_back("MPI", mpi ? mpi->version() : "none");
    for (const auto &[name, value] : facts) fmt::print("{}: {}\n", name, value);

    bench::Progress progress;
    bench::Report report;
    bench::Run run{options.effort, options.filter, mpi.get(), progress, report};
    unsigned failures = 0;
    if (options.backend == "cuda") {
        failures = bench::run_cuda(run, options.cuda);
    } else {
        for (const Part &part : parts_of(options))
            if (part.wanted) part.run(run);
    }
    progress.clear();
    if (!options.csv.empty()) report.write_csv(options.csv);
    if (!options.json.empty()) report.write_json(options.json, facts);
    if (!options.plot.empty()) plot(options, report.results());
    if (failures != 0) throw std::runtime_error(fmt::format("{} rows failed", failures));
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
