// ucd-bench: how fast UCD moves data, beside what is written by hand, memcpy, MPI and a GPU
// runtime's own copies.
#include "cases/cpu/sections.hpp"
#include "cases/gpu/sections.hpp"
#include "cases/sections.hpp"
#include "harness/machine.hpp"
#include "harness/options.hpp"
#include "harness/ucd_peer.hpp"
#include "report/rate_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>

namespace bench {
namespace {

// A part of the program, and whether it was asked for.
struct Section {
    bool wanted;
    std::function<void()> run;
};

struct Options {
    Settings settings;
    std::string backend = "seq", clock = "thread", plot, type;
    std::int64_t count = 1; // of the type
    bool list = false, all = false, no_mpi = false;
    // For both.
    bool layouts = false, reductions = false, batches = false, threads = false, fresh = false;
    // For the host.
    bool partial = false, calls = false, sweep = false, equivalents = false, apps = false,
         kernels = false;
    std::vector<std::int64_t> sizes = {16, 256, 16384}; // packed KiB
    // For GPUs.
    bool copies = false, memories = false, busy = false, shapes = false;
    std::string suite;
};

std::vector<Option> declared(Options &o) {
    std::vector<Option> all = common_options(o.settings);
    const char *const host = "For host memory", *const gpu = "With --backend cuda or hip";
    const std::vector<Option> own{
        {"--backend",
         &o.backend,
         "Whose memory is used: seq (the host's), cuda or hip",
         "Options",
         {"seq", "cuda", "hip"}},
        {"--clock",
         &o.clock,
         "What is measured: the thread's time on a processor, or wall time",
         host,
         {"thread", "wall"}},
        {"--no-mpi", &o.no_mpi, "Leave MPI out", host},
        {"--list", &o.list, "List the layouts, and measure nothing"},
        {"--json", &o.settings.json, "Write the results, with each repetition, to this file"},
        {"--plot", &o.plot, "Draw the rates of --layouts, --apps or --suite, as SVG, to this file"},
        {"--all", &o.all, "All sections"},
        {"--layouts", &o.layouts,
         "Whole packs and unpacks of each layout (if no other section is asked for)"},
        {"--reductions", &o.reductions, "Packs and unpacks with an op"},
        {"--batches", &o.batches, "Many small moves in one call"},
        {"--threads", &o.threads,
         "One call split over two threads; on a GPU, many calls of several threads"},
        {"--partial", &o.partial, "Packs and unpacks of 64 KiB parts; lists of segments", host},
        {"--calls", &o.calls, "64-byte calls; creating and freeing types", host},
        {"--type", &o.type, "A type in the language of the tool ucd", host},
        {"--count", &o.count, "How many of --type", host},
        {"--sweep", &o.sweep, "Vectors of many blocks, strides and lengths", host},
        {"--sizes", &o.sizes, "The lengths of --sweep, packed KiB", host},
        {"--fresh", &o.fresh,
         "Lists that are new every time: types created, packed from once, freed"},
        {"--equivalents", &o.equivalents, "Equal layouts described differently", host},
        {"--apps", &o.apps, "Whole packs and unpacks of what applications send", host},
        {"--kernels", &o.kernels, "Each kernel of the CPU, in every instruction set that it has",
         host},
        {"--copies", &o.copies, "From layout to layout", gpu},
        {"--memories", &o.memories, "Between every two kinds of memory", gpu},
        {"--busy", &o.busy,
         "Packs beside other work on the device; with few blocks; by each engine", gpu},
        {"--shapes", &o.shapes,
         "Words and shapes of many kinds, to and from host memory too, with and without a limit of "
         "blocks",
         gpu},
        {"--suite",
         &o.suite,
         "papers: what Jenkins et al. (TPDS 2014) and Wu et al. (HPDC 2016) measured",
         gpu,
         {"papers"}},
    };
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

void run_wanted(std::vector<Section> sections, bool all) {
    const auto is_wanted = [](const Section &section) { return section.wanted; };
    if (std::none_of(sections.begin(), sections.end(), is_wanted)) sections.front().wanted = true;
    for (const Section &section : sections)
        if (section.wanted || all) section.run();
}

void run_host(const Options &o, Run &run, const MpiPeer *mpi) {
    const std::unique_ptr<Device> host = open_host();
    const cpu::Setting s{run, *host, mpi};
    const bool has_type = !o.type.empty(); // there is none to take if none is given
    run_wanted({{o.layouts, [&] { cpu::run_layouts(s); }},
                {o.apps, [&] { cpu::run_apps(s); }},
                {has_type,
                 [&] {
                     if (has_type) cpu::run_type(s, o.type, o.count);
                 }},
                {o.partial, [&] { cpu::run_pieces(s); }},
                {o.calls, [&] { cpu::run_calls(s); }},
                {o.sweep, [&] { cpu::run_sweep(s, o.sizes); }},
                {o.fresh, [&] { cpu::run_fresh(s); }},
                {o.equivalents, [&] { cpu::run_equivalents(s); }},
                {o.reductions,
                 [&] {
                     run_reductions(run, *host, hand::reductions(), {16, 8192});
                 }},
                {o.batches, [&] { cpu::run_batches(s); }},
                {o.threads, [&] { cpu::run_threads(s); }},
                {o.kernels, [&] { cpu::run_kernels(s); }}},
               o.all);
}

void run_gpu(const Options &o, Run &run) {
    const std::unique_ptr<Device> device = open_gpu(o.backend, 0);
    run.effort.clock = Clock::wall;
    fmt::print("device: {}\n", device->name());
    run_wanted({{o.layouts, [&] { gpu::run_layouts(run, *device); }},
                {o.reductions, [&] { gpu::run_reductions(run, *device); }},
                {o.batches, [&] { gpu::run_batches(run, *device); }},
                {o.copies, [&] { gpu::run_copies(run, *device); }},
                {o.memories, [&] { gpu::run_memories(run, *device); }},
                {o.fresh, [&] { gpu::run_fresh(run, *device); }},
                {o.busy, [&] { gpu::run_busy(run, *device); }},
                {o.threads, [&] { gpu::run_threads(run, *device); }},
                {o.shapes, [&] { gpu::run_shapes(run, *device); }},
                {o.suite == "papers", [&] { gpu::run_papers(run, *device); }}},
               o.all);
}

void plot(const Options &o, const std::vector<Result> &results) {
    if (o.backend != "seq") {
        const PlotSeries series[] = {
            {"ceiling", "plain copy of the packed bytes", "#999999", 0},
            {"copies", "CUDA's 2-D or 3-D copy", "#e69f00", 4},
            {"hand", "kernel by hand, the best", "#009e73", 5},
            {"UCD, then copied", "UCD to device, then copied", "#56b4e9", 3},
            {"UCD", "UCD", "#0072b2", 3}};
        const PlotPanel panels[] = {
            {"papers, to device", "pack", "to device memory, GB/s of packed bytes"},
            {"papers, to pinned", "pack", "to pinned memory, GB/s of packed bytes"}};
        return plot_rates(results, series, panels, o.plot);
    }
    const PlotSeries series[] = {{"roofline", "copy of the lines touched", "#999999", 0},
                                 {"MPI", "MPI_Pack, MPI_Unpack", "#e69f00", 4},
                                 {"hand", "loop by hand, the best", "#009e73", 5},
                                 {"UCD", "UCD", "#0072b2", 3}};
    const bool layouts = std::any_of(results.begin(), results.end(),
                                     [](const Result &r) { return r.section == "layouts"; });
    const std::string section = layouts ? "layouts" : "apps";
    const PlotPanel panels[] = {{section, "pack", "packing, GB/s of packed bytes"},
                                {section, "unpack", "unpacking, GB/s of packed bytes"}};
    plot_rates(results, series, panels, o.plot);
}

int run(const Options &o) {
    if (o.list) {
        cpu::list_layouts(o.settings.filter);
        return 0;
    }
    const bool on_host = o.backend == "seq";
    const UcdSession session;
    const std::unique_ptr<MpiPeer> mpi = o.no_mpi || !on_host ? nullptr : start_mpi();
    Facts facts = machine_facts();
    facts.emplace_back("MPI", mpi ? mpi->version() : "none");
    for (const auto &[name, value] : facts) fmt::print("{}: {}\n", name, value);

    Run run(o.settings);
    on_host ? run_host(o, run, mpi.get()) : run_gpu(o, run);
    run.progress.clear();
    run.write(facts);
    if (!o.plot.empty()) plot(o, run.results());
    if (run.failures() != 0)
        throw std::runtime_error(fmt::format("{} rows failed", run.failures()));
    if (run.results().empty())
        throw std::runtime_error(
            fmt::format("no layout has \"{}\" in its name", o.settings.filter));
    return 0;
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    bench::Options options;
    if (const auto status = bench::parse(
            argc, argv, "ucd-bench",
            "Measures how fast UCD moves data, beside loops written by hand, memcpy and MPI.",
            bench::declared(options)))
        return *status;
    if (options.clock == "wall") options.settings.effort.clock = bench::Clock::wall;
    return bench::run_program("ucd-bench", [&] { return bench::run(options); });
}
