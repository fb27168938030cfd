// ucd-app-bench: what applications do with noncontiguous data, by UCD, by hand and by plain copies.
#include "cases/apps/sections.hpp"
#include "harness/options.hpp"
#include "harness/ucd_peer.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace bench::apps {

std::string Crew::place() const {
    const std::string between =
        peers.seats() == 1 ? "from a process to itself" : "between two processes";
    if (!device.is_gpu()) return fmt::format("{}, in {}, of one host", between, device.name());
    std::vector<std::int64_t> numbers;
    for (unsigned seat = 0; seat < peers.seats(); ++seat)
        numbers.push_back(options.devices[seat % options.devices.size()]);
    return fmt::format("{}, in {}, on device {}", between, device.name(), fmt::join(numbers, ", "));
}

namespace {

constexpr int no_device = 77; // as tests are skipped

struct Section {
    const char *name, *option, *text;
    unsigned processes;
    void (*run)(Crew &crew);
    bool wanted = false;
};

// "2x3"
ProcessGrid read_processes(const std::string &text) {
    ProcessGrid grid;
    char end;
    if (std::sscanf(text.c_str(), "%ux%u%c", &grid.rows, &grid.columns, &end) != 2 ||
        grid.rows < 1 || grid.columns < 1 || grid.rows > 64 || grid.columns > 64)
        throw std::runtime_error("--procs: \"" + text + "\" is not like 2x2");
    return grid;
}

void run(const Section &section, const Options &options) {
    Settings settings = options.settings;
    if (!settings.csv.empty()) settings.csv += fmt::format("/{}.csv", section.name);
    Board board(section.processes);
    run_processes(section.processes, settings.budget + 60, [&](unsigned seat) {
        const std::int64_t number = options.devices[seat % options.devices.size()];
        const std::unique_ptr<Device> device =
            open_device(options.memory == "host" ? "host" : fmt::format("cuda:{}", number));
        const UcdSession session;
        Peers peers(board, seat, *device);
        Run run(settings, &peers);
        Crew crew{options, peers, *device, run};
        section.run(crew);
        run.progress.clear();
        run.write();
    });
}

// Whether there are such devices; says so if not.
bool has_devices(const Options &options) {
    if (options.memory == "host") return true;
    const int count = count_gpus();
    const std::int64_t most = *std::max_element(options.devices.begin(), options.devices.end());
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
    using namespace bench;
    using namespace bench::apps;
    Options o;
    o.settings.effort = {.repetitions = 11, .seconds = 5e-3, .clock = Clock::wall};
    o.settings.budget = 75;
    std::string processes = "2x2";
    bool one_process = false;
    std::vector<Section> sections{
        {"stencil", "--stencil", "SHOC's nine-point stencil on a grid of processes", 0,
         run_stencil},
        {"pingpong", "--pingpong", "Matrices from process to process", 2, run_ping_pong},
        {"particles", "--particles", "Slices of a particle code's arrays, packed", 1,
         run_particles},
        {"busy", "--busy", "Matrices beside other work on the GPU", 2, run_busy}};
    std::vector<Option> options = common_options(o.settings);
    for (Section &section : sections)
        options.push_back({section.option, &section.wanted, section.text});
    const std::vector<Option> own{
        {.name = "--memory",
         .value = &o.memory,
         .text = "Where the data is: device or host",
         .choices = {"device", "host"}},
        {.name = "--devices",
         .value = &o.devices,
         .text = "Numbers of GPUs, given to the processes in turn",
         .least = 0},
        {"--procs", &processes, "Processes of the stencil, rows x columns"},
        {"--one-process", &one_process,
         "Matrices go from a process to itself (--busy: always so on one device)"},
        {"--sizes", &o.sizes, "Points of a process's side, rows of a matrix, particles"}};
    options.insert(options.end(), own.begin(), own.end());
    if (const auto status = parse(
            argc, argv, "ucd-app-bench",
            "What applications do with noncontiguous data, by UCD, by hand and by copies. --csv "
            "names a folder, for a file of each section; --budget counts for each section.",
            options))
        return *status;
    return run_program("ucd-app-bench", [&] {
        o.processes = read_processes(processes);
        sections[0].processes = o.processes.rows * o.processes.columns;
        // Kernels of two processes take turns on a GPU: no load would be beside the other one's.
        const bool one_device = o.devices.size() == 1 || o.devices[0] == o.devices[1];
        if (one_process) sections[1].processes = 1;
        if (one_process || one_device) sections[3].processes = 1;
        return apps::run(sections, o);
    });
}
