// What is far larger, or far more, than in other tests.
//
//   extremes [--full] [--memory host|NAME:0] [--only PART,...] [--size N]
//
// NAME is the backend that the program was linked with: hostgpu, cuda or hip. Without --full the
// sizes are such that all takes seconds. --size is that of the parts named by --only: bytes of
// pack, and the number of elements, blocks, types, cycles, constructors, calls, plans, moves of a
// plan.
#include "arena.hpp"
#include "extremes.hpp"

#include "support/test_start.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include <sys/resource.h>

namespace {

using namespace extremes;

struct Part {
    const char *name;
    void (*run)(std::uint64_t, bool);
    std::uint64_t Sizes::*size;
};
constexpr Part parts[] = {
    {"counts", large_counts, &Sizes::calls},
    {"depth", deep, &Sizes::depth},
    {"types", many_types, &Sizes::types},
    {"cycles", many_cycles, &Sizes::cycles},
    {"calls", many_calls, &Sizes::calls},
    {"plans", many_plans, &Sizes::plans},
    {"members", many_members, &Sizes::plans},
    {"blocks", many_blocks, &Sizes::blocks},
    {"elements", pack_many_elements, &Sizes::elements},
    {"conversions", convert_many_elements, &Sizes::elements},
    {"pack", pack_much, &Sizes::pack_bytes},
};

int usage(const std::string &what) {
    std::fprintf(stderr,
                 "extremes: %s\nusage: extremes [--full] [--memory host|%s:0] [--only PART,...] "
                 "[--size N]\nparts:",
                 what.c_str(), mock::backend.name);
    for (const Part &part : parts) std::fprintf(stderr, " %s", part.name);
    std::fprintf(stderr, "\n");
    return 2;
}

// In KiB.
long peak_resident() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

} // namespace

int main(int argc, char **argv) {
    Sizes sizes = small_sizes;
    std::string only;
    std::uint64_t size = 0;
    bool on_device = false;
    for (int i = 1; i < argc; ++i) {
        const std::string key = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
        if (key == "--full") {
            sizes = full_sizes;
            continue;
        }
        ++i;
        if (key == "--memory" &&
            (value == "host" || value == mock::backend.name + std::string(":0")))
            on_device = value != "host";
        else if (key == "--only")
            only = "," + value + ",";
        else if (key == "--size")
            size = std::stoull(value);
        else
            return usage(key + " " + value);
    }
    if (ucd_init(UCD_INFO__NULL) != UCD_SUCCESS) return usage(ucd_last_error());
    if (!ucdtest::tests_can_fail()) return 2;
    int failed = 0;
    for (const Part &part : parts) {
        if (!only.empty() && only.find("," + std::string(part.name) + ",") == std::string::npos)
            continue;
        const auto begun = std::chrono::steady_clock::now();
        try {
            part.run(size != 0 ? size : sizes.*part.size, on_device);
        } catch (const std::exception &e) {
            std::fprintf(stderr, "%s: %s\n", part.name, e.what());
            ++failed;
        }
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
        std::printf("    %s: %.1f s, %ld MiB resident at most so far\n", part.name, seconds,
                    peak_resident() >> 10);
        std::fflush(stdout);
    }
    if (ucd_finalize() != UCD_SUCCESS) ++failed;
    return failed == 0 ? 0 : 1;
}
