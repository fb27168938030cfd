// ucd-bench: how fast UCD moves data, beside what is written by hand, memcpy, MPI and a GPU
// runtime's own copies.
#include "cases/sections.hpp"
#include "harness/machine.hpp"
#include "harness/options.hpp"
#include "harness/ucd_peer.hpp"
#include "report/rate_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace bench {
namespace {

struct Options {
    Settings settings;
    std::string backend = "seq", clock = "thread", plot, type, suite, hptt;
    std::int64_t count = 1; // of the type
    bool list = false, all = false, no_mpi = false;
    std::vector<std::int64_t> sizes = {16, 256, 16384}; // packed KiB
    RowSizes rows;
};

// A part of the program, and whether it was asked for.
struct Section {
    const char *option, *text;
    void (*on_host)(const Setting &) = nullptr; // null: not there
    void (*on_gpu)(const Setting &) = nullptr;
    bool wanted = false;
};

constexpr const char *host = "For host memory", *gpu_only = "With --backend cuda or hip";

// In the order in which they run. The first one runs if no other is asked for.
std::vector<Section> all_sections() {
    return {
        {"--layouts", "Whole packs and unpacks of each layout (if no other section is asked for)",
         cpu::run_layouts, gpu::run_layouts},
        {"--apps", "Whole packs and unpacks of what applications send", cpu::run_apps},
        {"--partial", "Packs and unpacks of 64 KiB parts; lists of segments", cpu::run_pieces},
        {"--calls", "64-byte calls; creating and freeing types", cpu::run_calls},
        {"--sweep", "Vectors of many blocks, strides and lengths", cpu::run_sweep},
        {"--equivalents", "Equal layouts described differently", cpu::run_equivalents},
        {"--reductions", "Packs and unpacks with an op", cpu::run_reductions, gpu::run_reductions},
        {"--convert", "Conversions while moving", run_conversions, run_conversions},
        {"--batches", "Many small moves in one call", cpu::run_batches, gpu::run_batches},
        {"--copies", "From layout to layout", nullptr, gpu::run_copies},
        {"--permutations", "Arrays whose dimensions are packed in another order", run_permutations,
         run_permutations},
        {"--memories", "Between every two kinds of memory", nullptr, gpu::run_memories},
        {"--rows", "Rows between host and device, of many lengths, in pinned and pageable memory",
         nullptr, gpu::run_rows},
        {"--fresh", "Lists that are new every time: types created, packed from once, freed",
         cpu::run_fresh, gpu::run_fresh},
        {"--busy", "Packs beside other work on the device; with few blocks; by each engine",
         nullptr, gpu::run_busy},
        {"--threads", "One call split over two threads; on a GPU, many calls of several threads",
         cpu::run_threads, gpu::run_threads},
        {"--shapes",
         "Words and shapes of many kinds, to and from host memory too, with and without a limit of "
         "blocks",
         nullptr, gpu::run_shapes},
        {"--tune", "Copy engines against kernels, and the figures to choose by", nullptr,
         gpu::run_tuning},
        {"--kernels", "Each kernel of the CPU, in every instruction set that it has",
         cpu::run_kernels},
    };
}

std::vector<Option> declared(Options &o, std::vector<Section> &sections) {
    std::vector<Option> all = common_options(o.settings);
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
        {"--type", &o.type, "A type in the language of the tool ucd", host},
        {"--count", &o.count, "How many of --type", host},
        {"--sizes", &o.sizes, "The lengths of --sweep, packed KiB", host},
        {"--widths", &o.rows.widths, "The lengths of a row of --rows, bytes", gpu_only},
        {"--totals", &o.rows.totals, "The lengths of all rows of --rows, KiB", gpu_only},
        {"--pitch",
         &o.rows.pitch,
         "The distance of rows of --rows, bytes; 0: twice the length",
         gpu_only,
         {},
         0},
        {"--suite",
         &o.suite,
         "papers: what Jenkins et al. (TPDS 2014) and Wu et al. (HPDC 2016) measured",
         gpu_only,
         {"papers"}},
        {"--hptt", &o.hptt, "The library HPTT, libhptt.so, which --permutations measures too",
         host},
    };
    all.insert(all.end(), own.begin(), own.end());
    for (Section &s : sections)
        all.push_back({s.option, &s.wanted, s.text,
                       !s.on_gpu    ? host
                       : !s.on_host ? gpu_only
                                    : "Options"});
    return all;
}

void run_wanted(std::vector<Section> sections, const Options &o, const Setting &setting) {
    // There is no type to take if none is given.
    sections.push_back({.option = "--type",
                        .text = "",
                        .on_host = o.type.empty() ? nullptr : cpu::run_type,
                        .wanted = !o.type.empty()});
    sections.push_back(
        {.option = "--suite", .text = "", .on_gpu = gpu::run_papers, .wanted = !o.suite.empty()});
    const auto here = [&](const Section &s) { return o.backend == "seq" ? s.on_host : s.on_gpu; };
    if (std::none_of(sections.begin(), sections.end(),
                     [&](const Section &s) { return s.wanted && here(s) != nullptr; }))
        sections.front().wanted = true;
    for (const Section &s : sections)
        if ((s.wanted || o.all) && here(s) != nullptr) here(s)(setting);
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

int run(const Options &o, const std::vector<Section> &sections) {
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
    const std::unique_ptr<Device> device = on_host ? open_host() : open_gpu(o.backend, 0);
    if (!on_host) {
        run.effort.clock = Clock::wall;
        fmt::print("device: {}\n", device->name());
    }
    run_wanted(sections, o, {run, *device, mpi.get(), o.sizes, o.type, o.count, o.hptt, o.rows});
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
    std::vector<bench::Section> sections = bench::all_sections();
    if (const auto status = bench::parse(
            argc, argv, "ucd-bench",
            "Measures how fast UCD moves data, beside loops written by hand, memcpy and MPI.",
            bench::declared(options, sections)))
        return *status;
    if (options.clock == "wall") options.settings.effort.clock = bench::Clock::wall;
    return bench::run_program("ucd-bench", [&] { return bench::run(options, sections); });
}
