// ucd-app-bench: what applications do with noncontiguous data, by UCD, by hand and by plain copies.
#include "apps/sections.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <stdexcept>

namespace bench::apps {
namespace {

constexpr int no_device = 77; // as tests are skipped

struct Section {
    const char *name, *option, *text;
    unsigned processes;
    void (*run)(Crew &crew);
    bool wanted = false;
};

// "2x3"
void read_processes(const std::string &text, ProcessGrid &grid) {
    char end;
    if (std::sscanf(text.c_str(), "%ux%u%c", &grid.rows, &grid.columns, &end) != 2 ||
        grid.rows < 1 || grid.columns < 1 || grid.rows > 64 || grid.columns > 64)
        throw CLI::ValidationError("--procs", "\"" + text + "\" is not like 2x2");
}

void run(const Section &section, const Options &options) {
    Board board(section.processes);
    run_processes(section.processes, options.budget + 60, [&](unsigned seat) {
        const std::unique_ptr<Place> place =
            options.memory == "host" ? host_place()
                                     : cuda_place(options.devices[seat % options.devices.size()]);
        const UcdSession session;
        Peers peers(board, seat, *place);
        Crew crew{options, peers, *place};
        section.run(crew);
        crew.progress.clear();
        if (crew.prints() && !options.csv.empty())
            crew.report.write_csv(fmt::format("{}/{}.csv", options.csv, section.name));
    });
}

// Whether there are such devices; says so if not.
bool has_devices(const Options &options) {
    if (options.memory == "host") return true;
    const int count = count_cuda_devices();
    const int most = *std::max_element(options.devices.begin(), options.devices.end());
    if (most < count) return true;
    if (count == 0)
        fmt::print("ucd-app-bench: there is no CUDA device; --memory host does without\n");
    else
        fmt::print("ucd-app-bench: there is no device {}: the machine has {}\n", most, count);
    return false;
}

int run(std::vector<Section> &sections, const Options &options) {
    if (!has_devices(options)) return no_device;
    const bool all = std::none_of(sections.begin(), sections.end(),
                                  [](const Section &section) { return section.wanted; });
    unsigned failures = 0;
    for (const Section &section : sections) {
        if (!section.wanted && !all) continue;
        try {
            run(section, options);
        } catch (const std::exception &e) {
            fmt::print("--{} FAILED: {}\n", section.name, e.what());
            ++failures;
        }
        fmt::print("\n");
    }
    if (failures > 0) fmt::print(stderr, "ucd-app-bench: {} sections failed\n", failures);
    return failures == 0 ? 0 : 1;
}

} // namespace
} // namespace bench::apps

int main(int argc, char **argv) {
    using namespace bench::apps;
    Options options;
    std::string processes = "2x2";
    bool one_process = false;
    std::vector<Section> sections{
        {"stencil", "--stencil", "SHOC's nine-point stencil on a grid of processes", 0,
         run_stencil},
        {"pingpong", "--pingpong", "Matrices from process to process", 2, run_ping_pong},
        {"particles", "--particles", "Slices of a particle code's arrays, packed", 1,
         run_particles},
        {"busy", "--busy", "Matrices beside other work on the GPU", 2, run_busy}};
    CLI::App app("What applications do with noncontiguous data, by UCD, by hand and by copies.",
                 "ucd-app-bench");
    for (Section &section : sections) app.add_flag(section.option, section.wanted, section.text);
    app.add_option("--memory", options.memory, "Where the data is: device or host")
        ->check(CLI::IsMember({"device", "host"}))
        ->capture_default_str();
    app.add_option("--devices", options.devices,
                   "Numbers of CUDA devices, given to the processes in turn")
        ->delimiter(',')
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--procs", processes, "Processes of the stencil, rows x columns")
        ->capture_default_str();
    app.add_flag("--one-process", one_process,
                 "Matrices go from a process to itself (--busy: always so on one device)");
    app.add_option("--sizes", options.sizes,
                   "Points of a process's side, rows of a matrix, particles")
        ->delimiter(',')
        ->check(CLI::PositiveNumber);
    app.add_option("--repetitions", options.effort.repetitions,
                   "Repetitions, of which the median counts")
        ->check(CLI::Range(1u, 1'000'000u))
        ->capture_default_str();
    app.add_option("--min-time", options.effort.seconds, "Seconds that a repetition takes at least")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--budget", options.budget,
                   "Seconds of a section after which it begins no other row")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--csv", options.csv, "A folder for the times of each section, NAME.csv");
    try {
        app.parse(argc, argv);
        read_processes(processes, options.processes);
    } catch (const CLI::ParseError &e) {
        return app.exit(e);
    }
    sections[0].processes = options.processes.rows * options.processes.columns;
    // Kernels of two processes take turns on a GPU: no load would be beside the other one's.
    const bool one_device = options.devices.size() == 1 || options.devices[0] == options.devices[1];
    if (one_process) sections[1].processes = 1;
    if (one_process || one_device) sections[3].processes = 1;
    try {
        return run(sections, options);
    } catch (const std::exception &e) {
        fmt::print(stderr, "ucd-app-bench: {}\n", e.what());
        return 1;
    }
}
