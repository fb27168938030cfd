#include "harness/machine.hpp"

#include <ucd.h>

#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <thread>

namespace bench {
namespace {

std::string first_line(const std::string &path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    std::string name, family, model;
    const auto value = [](const std::string &line) {
        const std::size_t colon = line.find(": ");
        return colon == std::string::npos ? std::string() : line.substr(colon + 2);
    };
    for (std::string line; std::getline(file, line) && !line.empty();) {
        if (line.starts_with("model name"))
            name = value(line);
        else if (line.starts_with("cpu family"))
            family = value(line);
        else if (line.starts_with("model\t"))
            model = value(line);
    }
    if (name.empty()) return "unknown";
    return family.empty() ? name : fmt::format("{} (family {}, model {})", name, family, model);
}

std::string caches() {
    std::string all;
    for (unsigned i = 0;; ++i) {
        const std::string path = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
        const std::string level = first_line(path + "level");
        if (level.empty()) break;
        const std::string type = first_line(path + "type");
        if (type == "Instruction") continue;
        all += fmt::format("{}L{} {}", all.empty() ? "" : ", ", level, first_line(path + "size"));
    }
    return all.empty() ? "unknown" : all;
}

#ifdef UCD_BENCH_QUICK
constexpr const char *optimisation =
    "; -Dquick_programs: what is written by hand is slower than it could be";
#else
constexpr const char *optimisation = "";
#endif

} // namespace

Facts machine_facts() {
    int major = 0, minor = 0, patch = 0;
    ucd_version(&major, &minor, &patch);
    double load[1] = {};
    const bool has_load = getloadavg(load, 1) == 1;
    return {
        {"UCD", fmt::format("{}.{}.{}", major, minor, patch)},
        {"compiler", std::string(__VERSION__) + optimisation},
        {"processor", processor()},
        {"processors", fmt::format("{}", std::thread::hardware_concurrency())},
        {"caches", caches()},
        {"load before the run", has_load ? fmt::format("{:.2f}", load[0]) : "unknown"},
    };
}

} // namespace bench
